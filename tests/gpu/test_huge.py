"""Arrays of more elements than 32 bits count, on a GPU with enough memory."""

from collections.abc import Callable, Iterator

import cupy
import numpy as np
import pytest

import fourways_aot
from fourways import lesson

SIZE = 2**31 + 33
PIECE = 10_000_019  # a prime: an index that lost its upper bits reads another number


@pytest.fixture(autouse=True)
def memory_is_given_back() -> Iterator[None]:
    yield
    cupy.get_default_memory_pool().free_all_blocks()


def needs(arrays: int, size: int = SIZE) -> None:
    """Skip where so many arrays of float32, and one more for what compares them, do not fit."""
    free, wanted = cupy.cuda.runtime.memGetInfo()[0], 4 * size * (arrays + 1)
    if free < wanted:
        pytest.skip(f"needs {wanted / 2**30:.0f} GiB of free GPU memory, there are {free / 2**30:.0f}")


def poisoned(shape: int | tuple[int, ...]) -> cupy.ndarray:
    return cupy.full(shape, cupy.nan, cupy.float32)


@pytest.mark.parametrize(
    ("number", "ways"),
    [("01", ("nvrtc", "nvcc", "pycuda", "pybind11")), ("02", ("nvrtc", "pybind11")), ("08", ("nvrtc", "pybind11"))],
)
def test_the_ways_of_a_lesson(number: str, ways: tuple[str, ...]) -> None:
    """Their cells compute the grid. The answer repeats with the inputs, so a short array has all of them."""
    collected = lesson.load(lesson.find(number), list(ways))
    short = collected.make_inputs(PIECE)
    needs(1 + sum(isinstance(each, np.ndarray) for each in short))
    inputs = [cupy.resize(cupy.asarray(each), SIZE) if isinstance(each, np.ndarray) else each for each in short]
    right = cupy.asarray(collected.reference(*short))
    for way in ways:
        output = poisoned(SIZE)
        collected.functions[way](*inputs, output)
        for start in range(0, SIZE, PIECE):
            piece = output[start : start + PIECE]
            assert (abs(piece - right[: piece.size]) <= 1e-5 * abs(right[: piece.size])).all(), (way, start)
        del output


@pytest.mark.parametrize("add", [fourways_aot.reduce, fourways_aot.device_reduce])
def test_a_sum(add: Callable[..., None]) -> None:
    needs(1)
    x, total = cupy.zeros(SIZE, cupy.float32), poisoned(1)
    x[:: 2**20] = 1
    x[-1] = 0.5
    add(x, total)
    assert total[0] == 2**11 + 0.5 + 1  # the multiples of 2^20, the last element


@pytest.mark.parametrize("scan", [fourways_aot.device_scan, fourways_aot.long_scan])
def test_prefix_sums(scan: Callable[..., None]) -> None:
    needs(2)
    x, y = cupy.zeros(SIZE, cupy.float32), poisoned(SIZE)
    x[:: 2**20] = 1
    scan(x, y)
    assert (y[:: 2**20] == cupy.arange(1, 2**11 + 2)).all()
    assert (y[2**20 - 1 :: 2**20] == cupy.arange(1, 2**11 + 1)).all()
    assert y[-1] == 2**11 + 1


def test_transpose() -> None:
    h, w = 46_341, 46_349
    needs(2, h * w)
    a = cupy.random.default_rng(5).standard_normal((h, w), dtype=cupy.float32)
    b = poisoned((w, h))
    fourways_aot.transpose(a, b)
    assert all((b[i : i + 4096] == a[:, i : i + 4096].T).all() for i in range(0, w, 4096))
