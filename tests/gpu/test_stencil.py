"""The stencil's binding on a GPU: numbers, where the result of many steps lies, streams, the GIL, CUDA graphs."""

import itertools
import threading
import time

import cupy
import numpy as np
import pytest
from gate import Gate
from protocols import Dlpack, Interface

import fourways_aot
from fourways import lesson

SHAPES = [*itertools.product((0, 1, 2, 3, 5, 8, 9), (0, 1, 2, 3, 4, 31, 32, 33)), (1009, 513), (515, 2052)]


def plate(shape: tuple[int, int]) -> np.ndarray:
    return np.random.default_rng(5).random(shape, np.float32)


@pytest.fixture(scope="module")
def step():
    return lesson.load(lesson.find("05")).reference


def steps(step, u: np.ndarray, number: int) -> np.ndarray:
    for _ in range(number):
        u = step(u)
    return u


@pytest.mark.parametrize("wrap", [lambda a: a, Interface, Dlpack], ids=["cupy", "interface", "dlpack"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_shape_and_nothing_beyond(step, shape: tuple[int, int], wrap) -> None:
    u, around = plate(shape), cupy.full(shape[0] * shape[1] + 64, cupy.nan, cupy.float32)
    v = around[: u.size].reshape(shape)
    assert fourways_aot.stencil(wrap(cupy.asarray(u)), wrap(v)) is None
    np.testing.assert_array_equal(v.get(), step(u))
    assert cupy.isnan(around[u.size :]).all()


def test_more_rows_than_a_grid_has_blocks(step) -> None:
    u = plate((65535 * 8 + 33, 3))
    v = cupy.full(u.shape, cupy.nan, cupy.float32)
    fourways_aot.stencil(cupy.asarray(u), v)
    np.testing.assert_array_equal(v.get(), step(u))


def test_more_cells_than_32_bits_count(step) -> None:
    shape = (46_342, 46_344)
    if cupy.cuda.runtime.memGetInfo()[0] < 5 * 4 * shape[0] * shape[1]:
        pytest.skip("needs 43 GB of free GPU memory")
    u, v = cupy.random.default_rng(5).random(shape, dtype=cupy.float32), cupy.full(shape, cupy.nan, cupy.float32)
    fourways_aot.stencil(u, v)
    for first in (0, shape[0] // 2, shape[0] - 100):
        rows = slice(max(0, first - 1), first + 101)
        wanted = step(u[rows].get())
        inner = slice(0 if first == 0 else 1, None if first + 101 >= shape[0] else -1)
        np.testing.assert_array_equal(v[rows].get()[inner], wanted[inner])
    del u, v
    cupy.get_default_memory_pool().free_all_blocks()


@pytest.mark.parametrize("number", [0, 1, 2, 7, 8])
def test_the_result_of_many_steps_lies_where_it_is_said_to(step, number: int) -> None:
    start = plate((37, 60))
    u, v = cupy.asarray(start), cupy.full(start.shape, cupy.nan, cupy.float32)
    result = fourways_aot.stencil_steps(u, v, number)
    assert result is (v if number % 2 else u)
    np.testing.assert_array_equal(result.get(), steps(step, start, number))


def test_a_bad_argument_leaves_both_arrays_alone() -> None:
    u, v = cupy.asarray(plate((4, 8))), cupy.full((4, 8), cupy.nan, cupy.float32)
    before = u.copy()
    for arguments in [(u, v[:3], 2), (u.T, v.T, 2), (u, v, -1), (u.astype(cupy.float64), v, 2)]:
        with pytest.raises((TypeError, ValueError), match="^stencil_steps: .*wanted"):
            fourways_aot.stencil_steps(*arguments)
    cupy.cuda.Device().synchronize()
    assert cupy.isnan(v).all() and (u == before).all()


@pytest.mark.parametrize("library", ["torch", "numba"])
def test_arrays_and_streams_of_others(step, library: str) -> None:
    start = plate((33, 44))
    if library == "torch":
        torch = pytest.importorskip("torch")
        u, v = torch.from_numpy(start).cuda(), torch.full(start.shape, torch.nan, device="cuda")
        stream = torch.cuda.current_stream()
    else:
        cuda = pytest.importorskip("numba.cuda")
        stream = cuda.stream()
        u, v = cuda.to_device(start, stream=stream), cuda.device_array(start.shape, np.float32, stream=stream)
    result = fourways_aot.stencil_steps(u, v, 3, stream=stream)
    stream.synchronize()
    assert result is v
    np.testing.assert_array_equal(cupy.asarray(result).get(), steps(step, start, 3))


def test_a_captured_graph_repeats_the_steps(step) -> None:
    start = plate((37, 60))
    u, v = cupy.asarray(start), cupy.full(start.shape, cupy.nan, cupy.float32)
    cupy.cuda.Device().synchronize()  # the stream below does not wait for the one that made them
    with cupy.cuda.Stream(non_blocking=True) as stream:
        stream.begin_capture()
        result = fourways_aot.stencil_steps(u, v, 4)
        graph = stream.end_capture()
        assert cupy.isnan(v).all(), "a capture runs nothing"
        graph.launch()
        graph.launch()
        stream.synchronize()
    np.testing.assert_array_equal(result.get(), steps(step, start, 8))


def test_other_threads_run_during_the_loop() -> None:
    """The queue of launches is full after about a thousand; the rest of the loop waits for the GPU."""
    start, number = plate((37, 60)), 10_000
    u, v = cupy.asarray(start), cupy.empty(start.shape, cupy.float32)
    fourways_aot.stencil(u, v)
    gate = Gate()
    thread = threading.Thread(target=fourways_aot.stencil_steps, args=(u, v, number))
    thread.start()
    time.sleep(0.2)  # until it is somewhere in its loop
    is_within = thread.is_alive()
    gate.open()
    thread.join()
    assert is_within, "the queue never filled, so this showed nothing"
    assert gate.was_opened, "this thread stood still until the kernel gave up"
