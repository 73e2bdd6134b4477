"""Lesson 03 on a GPU: sums, scans and normalised rows at awkward sizes, by the binding and by CuPy."""

from collections.abc import Callable

import cupy
import numpy as np
import pytest

import fourways_aot
from fourways import kernels, toolchain

SIZES = [0, 1, 2, 3, 5, 31, 32, 33, 255, 256, 257, 1009, 2047, 2048, 2049, 65_537, 1_000_003]
SHAPES = [(1, 1), (3, 0), (0, 3), (7, 31), (2, 2048), (5, 2049), (3, 10_007), (70_000, 3)]
ARRANGEMENTS = ["DIRECT", "STRIPED", "VECTORIZE", "TRANSPOSE", "WARP_TRANSPOSE"]
MORE_THAN_32_BITS = 2**31 + 33


def odd_numbers(shape: int | tuple[int, ...]) -> np.ndarray:
    """Odd whole numbers: sums that float32 holds exactly, in any order; a missing one shows."""
    return (2 * np.random.default_rng(3).integers(-8, 8, shape) + 1).astype(np.float32)


def poisoned(shape: int | tuple[int, ...]) -> cupy.ndarray:
    return cupy.full(shape, cupy.nan, cupy.float32)


def compiled(name: str, *options: str) -> Callable[[cupy.ndarray, cupy.ndarray], None]:
    """A kernel of rows by CuPy and NVRTC, for blocks of 128."""
    folders = [f"-I{folder}" for folder in toolchain.include_dirs()]
    kernel = cupy.RawKernel(kernels.source(name), name, options=("-std=c++17", *options, *folders))

    def launch(x: cupy.ndarray, y: cupy.ndarray) -> None:
        kernel((max(1, min(x.shape[0], 1000)),), (128,), (x, y, *map(np.int64, x.shape)))

    return launch


def arranged(name: str, arrangement: str) -> Callable[[cupy.ndarray, cupy.ndarray], None]:
    return compiled(name, f"-DLOAD=cub::BLOCK_LOAD_{arrangement}", f"-DSTORE=cub::BLOCK_STORE_{arrangement}")


# --- sums ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("add", [fourways_aot.reduce, fourways_aot.device_reduce])
@pytest.mark.parametrize("size", SIZES)
def test_sum_of_every_size_from_every_start(add: Callable[..., None], size: int) -> None:
    for start in range(4):
        x, around = odd_numbers(size + start), poisoned(3)
        add(cupy.asarray(x)[start:], around[1:2])
        assert around[1] == x[start:].sum(dtype=np.float64)
        assert cupy.isnan(around[::2]).all()


@pytest.mark.parametrize("add", [fourways_aot.reduce, fourways_aot.device_reduce])
def test_sum_of_more_elements_than_32_bits_count(add: Callable[..., None]) -> None:
    if cupy.cuda.runtime.memGetInfo()[0] < 5 * MORE_THAN_32_BITS:
        pytest.skip("needs 11 GB of free GPU memory")
    x, total = cupy.zeros(MORE_THAN_32_BITS, cupy.float32), poisoned(1)
    x[:: 2**20] = 1
    x[-1] = 0.5
    add(x, total)
    assert total[0] == 2**11 + 0.5 + 1  # the multiples of 2^20, the last element
    del x
    cupy.get_default_memory_pool().free_all_blocks()


@pytest.mark.parametrize("add", [fourways_aot.reduce, fourways_aot.device_reduce])
def test_sum_of_no_whole_numbers(add: Callable[..., None]) -> None:
    x, total = cupy.random.default_rng(1).random(2**24, dtype=cupy.float32), poisoned(1)
    add(x, total)
    exact = float(x.sum(dtype=cupy.float64))
    assert abs(float(total[0]) - exact) <= 2200 * 2**-24 * exact  # 2048 blocks, and few additions before


# --- scans -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scan", [fourways_aot.device_scan, fourways_aot.long_scan])
@pytest.mark.parametrize("size", [*SIZES, 8191, 8192, 8193, 5_000_011])
def test_prefix_sums_of_every_size_from_every_start(scan: Callable[..., None], size: int) -> None:
    for start in range(4):
        x, around = odd_numbers(size + start), poisoned(size + 67)
        scan(cupy.asarray(x)[start:], around[3 - start :][:size])
        right = np.cumsum(x[start:], dtype=np.float64)
        np.testing.assert_array_equal(around[3 - start :][:size].get(), right)
        assert cupy.isnan(around[: 3 - start]).all() and cupy.isnan(around[3 - start + size :]).all()


@pytest.mark.parametrize("scan", [fourways_aot.device_scan, fourways_aot.long_scan])
def test_prefix_sums_take_all_elements_in_order(scan: Callable[..., None]) -> None:
    x, y = odd_numbers((3, 5, 7)), poisoned((3, 5, 7))
    scan(cupy.asarray(x), y)
    np.testing.assert_array_equal(y.get().ravel(), np.cumsum(x))


@pytest.mark.parametrize("scan", [fourways_aot.device_scan, fourways_aot.long_scan])
def test_prefix_sums_of_more_elements_than_32_bits_count(scan: Callable[..., None]) -> None:
    if cupy.cuda.runtime.memGetInfo()[0] < 9 * MORE_THAN_32_BITS:
        pytest.skip("needs 20 GB of free GPU memory")
    x, y = cupy.zeros(MORE_THAN_32_BITS, cupy.float32), poisoned(MORE_THAN_32_BITS)
    x[:: 2**20] = 1
    scan(x, y)
    assert (y[:: 2**20] == cupy.arange(1, 2**11 + 2)).all()
    assert (y[2**20 - 1 :: 2**20] == cupy.arange(1, 2**11 + 1)).all()
    assert y[-1] == 2**11 + 1
    del x, y
    cupy.get_default_memory_pool().free_all_blocks()


def test_long_scan_gives_the_same_bits_in_every_run_and_errs_little() -> None:
    x = cupy.random.default_rng(1).random(2**24, dtype=cupy.float32)
    runs = [poisoned(x.size) for _ in range(5)]
    for y in runs:
        fourways_aot.long_scan(x, y)
    assert all((y == runs[0]).all() for y in runs[1:])
    exact = cupy.cumsum(x, dtype=cupy.float64)
    assert (abs(runs[0] - exact) <= 600 * 2**-24 * exact).all()  # far fewer than the elements added


def test_long_scan_runs_beside_other_work() -> None:
    """Its blocks wait for each other, so they must get onto the GPU together whatever else is there."""
    x, y, other = cupy.ones(2**24, cupy.float32), poisoned(2**24), cupy.ones(2**26, cupy.float32)
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(2)]
    cupy.cuda.Device().synchronize()
    for _ in range(50):
        with streams[0]:
            other *= 1.0
        fourways_aot.long_scan(x, y, stream=streams[1])
    cupy.cuda.Device().synchronize()
    assert (y == cupy.arange(1, 2**24 + 1, dtype=cupy.float32)).all()


def test_long_scan_by_cupy_gives_the_bits_of_the_binding_and_cuts_a_grid_that_is_too_large() -> None:
    """What lesson 03 says of `enable_cooperative_groups`, in case CuPy changes."""
    folders = [f"-I{folder}" for folder in toolchain.include_dirs()]
    text, options = kernels.source("long_scan"), ("-std=c++17", *folders)
    kernel = cupy.RawModule(code=text, options=options, enable_cooperative_groups=True).get_function("long_scan")
    x = cupy.random.default_rng(3).random(20_000_003, dtype=cupy.float32)
    by_binding, by_cupy = poisoned(x.size), poisoned(x.size)
    fourways_aot.long_scan(x, by_binding)
    sums = cupy.zeros(-(-x.size // (4 * 6 * 256)), np.uint64)  # a word a tile
    with pytest.warns(UserWarning, match="grid size will be reduced"):
        kernel((sums.size,), (256,), (x, by_cupy, sums, np.int64(x.size)))
    assert (by_cupy == by_binding).all()


@pytest.mark.parametrize("shape", [*SHAPES, (), (9,), (2, 3, 4)])
def test_scan_of_rows_by_the_binding(shape: tuple[int, ...]) -> None:
    x, y = odd_numbers(shape), poisoned(shape)
    fourways_aot.scan(cupy.asarray(x), y)
    np.testing.assert_array_equal(y.get(), np.cumsum(x, axis=-1).reshape(shape) if x.ndim else x)


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_scan_needs_neighbours_in_one_thread(arrangement: str) -> None:
    launch = arranged("scan", arrangement)
    for shape in SHAPES:
        x, y = odd_numbers(shape), poisoned(shape)
        launch(cupy.asarray(x), y)
        right = np.array_equal(y.get(), np.cumsum(x, axis=1))
        few = x.size == 0 or shape[1] <= 128  # then no thread of a block has more than one element
        assert right == (arrangement != "STRIPED" or few), shape


# --- rows of length 1 ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_normalise(arrangement: str) -> None:
    launch = arranged("normalise", arrangement)
    for shape in SHAPES:
        x, around = odd_numbers(shape), poisoned(np.prod(shape) + 64)
        y = around[: x.size].reshape(shape)
        launch(cupy.asarray(x), y)
        exact = x / np.linalg.norm(x.astype(np.float64), axis=1, keepdims=True)
        np.testing.assert_allclose(y.get(), exact, rtol=1e-6)
        assert cupy.isnan(around[x.size :]).all()


# --- manners ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["reduce", "device_reduce", "scan", "device_scan", "long_scan"])
def test_a_graph_captures_all_of_it_on_a_stream_of_its_own(name: str) -> None:
    call = getattr(fourways_aot, name)
    x, out = cupy.ones(100_000, cupy.float32), poisoned(1 if "reduce" in name else 100_000)
    call(x, out)
    cupy.cuda.Device().synchronize()  # a non-blocking stream does not wait for the default one
    with cupy.cuda.Stream(non_blocking=True) as stream:
        stream.begin_capture()
        call(x, out)
        graph = stream.end_capture()
        x.fill(3)
        for _ in range(2):
            out.fill(cupy.nan)
            graph.launch(stream)
            assert out[-1] == 300_000


@pytest.mark.parametrize("name", ["reduce", "device_reduce"])
def test_a_named_stream_is_the_one(name: str) -> None:
    x, total = cupy.ones(1009, cupy.float32), poisoned(1)
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    getattr(fourways_aot, name)(x, total, stream=stream)
    stream.synchronize()
    assert total[0] == 1009
