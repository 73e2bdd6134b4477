"""Kernels on the host give the numbers that a GPU gives: barriers, warps, atomics, types, places."""

from pathlib import Path

import numpy as np
import pytest

from fourways import host

HERE = Path(__file__).parent / "kernels"
RNG = np.random.default_rng(7)


def kernel(file: str, name: str, *options: str) -> host.HostKernel:
    return host.compile(HERE / f"{file}.cuh", options).get_function(name)


def types() -> host.HostModule:
    return host.compile(HERE / "types.cuh", ("-DT=double",))


def poisoned(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return np.full(shape, np.nan if np.issubdtype(dtype, np.floating) else -99, dtype)


@pytest.mark.parametrize("size", [1, 32, 50])
def test_threads_may_return_before_a_barrier(size: int) -> None:
    x, y = np.arange(size, dtype=np.int32) ** 2, poisoned(size, dtype=np.int32)
    kernel("right", "early_return")((1,), (64,), (x, y, np.int32(size)))
    np.testing.assert_array_equal(y, x + x[::-1])


@pytest.mark.parametrize("first", [0, 1, 40, 63, 64])
def test_threads_may_run_to_their_end_before_any_barrier(first: int) -> None:
    y = poisoned(64, dtype=np.int32)
    kernel("right", "late_barrier")((2,), (64,), (y, np.int32(first)))
    np.testing.assert_array_equal(y, [-1] * first + list(range(63, first - 1, -1)))


@pytest.mark.parametrize("width", [32, 8])
@pytest.mark.parametrize("threads", [64, 32])
def test_functions_of_a_warp(width: int, threads: int) -> None:
    y = poisoned(8, threads, dtype=np.int32)
    kernel("right", "warp_functions")((1,), (threads,), (y, np.int32(width)))
    lane = np.arange(threads)
    start = lane // width * width
    np.testing.assert_array_equal(y[0], 100 + start + 3)
    np.testing.assert_array_equal(y[1], 100 + np.where(lane - 3 >= start, lane - 3, lane))
    np.testing.assert_array_equal(y[2], 100 + np.where(lane + 3 < start + width, lane + 3, lane))
    np.testing.assert_array_equal(y[3], 100 + (lane ^ 5))
    votes = [(lane[lane // 32 == warp] % 3 == 0).sum() for warp in lane // 32]
    np.testing.assert_array_equal(y[4], votes)
    assert (y[5] == 1).all()
    assert (y[6] == 2).all()
    np.testing.assert_array_equal(y[7], lane // 32 * 32 + 2)


@pytest.mark.parametrize("threads", [16, 40])
def test_lanes_that_a_block_does_not_have_are_not_waited_for(threads: int) -> None:
    y = poisoned(threads, dtype=np.int32)
    kernel("right", "neighbours")((1,), (threads,), (y,))
    np.testing.assert_array_equal(y, np.arange(threads) ^ 1)


def test_halves_of_a_warp_meet_apart() -> None:
    y = poisoned(64, dtype=np.int32)
    kernel("right", "half_warps")((1,), (64,), (y,))
    lane = np.arange(64)
    np.testing.assert_array_equal(y, np.where(lane % 32 < 16, lane ^ 7, lane ^ 8))


def test_atomics() -> None:
    cells, count, histogram = np.zeros(5, np.int32), np.zeros(1, np.uint64), np.zeros(4, np.int32)
    total = np.zeros(1, np.float32)
    kernel("right", "atomics")((3,), (64,), (cells, count, total, histogram))
    assert cells.tolist() == [2 * 192, -192, 191, -191, 7]
    assert (count[0], total[0], histogram.tolist()) == (192, 96.0, [48] * 4)


def test_vector_types_scalars_and_libcudacxx() -> None:
    module = types()
    x, y = RNG.standard_normal(1000, np.float32), poisoned(1000)
    module.get_function("add_one")((2,), (64,), (x, y, 250))
    np.testing.assert_array_equal(y, x + np.float32(1))
    out = np.zeros(9)
    values = (-5, np.uint8(200), np.float32(0.25), 1e300, True, np.int64(2**40))
    module.get_function("scalars")((1,), (1,), (out, *values))
    assert out.tolist() == [-5, 200, 0.25, 1e300, 1, 2**40, 4, np.finfo(np.float64).max, 5]
    flags = np.zeros(4, np.uint16)
    module.get_function("any_bytes")((1,), (1,), (flags, np.int16(8)))
    assert (flags == 0x0707).all()


def test_every_block_and_thread_has_its_place() -> None:
    y = poisoned(4 * 3 * 2, 2 * 3 * 5, dtype=np.int32)
    module = types()
    module.get_function("where")((4, 3, 2), (5, 3, 2), (y,))
    bz, by, bx, tz, ty, tx = np.meshgrid(*map(np.arange, (2, 3, 4, 2, 3, 5)), indexing="ij")
    np.testing.assert_array_equal(
        y.ravel(), (1000000 * bz + 100000 * by + 10000 * bx + 100 * tz + 10 * ty + tx).ravel()
    )


def test_what_a_kernel_prints_comes_at_once(capfd: pytest.CaptureFixture[str]) -> None:
    types().get_function("says")((1,), (2,), (7,))
    assert capfd.readouterr().out == "thread 0 says 7\nthread 1 says 7\n"
