"""Every function of the compiled module on a GPU: right at awkward sizes and addresses, for every kind of array.

Numbers are small odd whole ones: float32 adds them exactly in any order, and a missing one shows.
"""

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import bindings
import cupy
import numpy as np
import pytest
from protocols import Dlpack, Interface

import fourways_aot

SIZES = [(n,) for n in (0, 1, 2, 3, 5, 31, 32, 33, 255, 256, 257, 1009, 2047, 2048, 2049, 65_537, 1_000_003)]
SHAPES = [(), (4, 4), (3, 5, 7), (1, 1, 2, 3, 1), (3, 0)]
LONG = [(8191,), (8192,), (8193,), (5_000_011,)]
ROWS = [(1, 1), (3, 0), (0, 3), (7, 31), (2, 2048), (5, 2049), (3, 10_007), (70_000, 3), (), (9,), (2, 3, 4)]
TALL, WIDE = (65_535 * 64 + 33, 3), (3, 65_535 * 64 + 33)  # a grid has at most 65,535 blocks in y
MATRICES = [(0, 0), (0, 5), (5, 0), (1, 1), (1, 33), (33, 1), (31, 33), (64, 64), (7, 1009), (1000, 1001), TALL, WIDE]
PLATES = [*itertools.product((0, 1, 2, 3, 5, 8, 9), (0, 1, 2, 3, 4, 31, 32, 33)), (1009, 513), (515, 2052), TALL]
STACKS = [(0, 3, 5), (1, 1, 1), (2, 3, 5), (3, 70, 33), (1, 1, 1009), (2, 5, 0), (2, 0, 5)]
STACKS += [(1, 4096, 2), (129, 257, 31)]
FILTERS = [(n, taps) for taps in (1, 8, 15, 16, 17, 32, 100) for n in (0, 1, 3, 5, 33, 1009, 100_003) if n + taps > 1]
QUARTER, SLOPE = np.float32(0.25), float(np.float32(0.99))


class Call(NamedTuple):
    """The inputs of a call by name and in order, None for the output; its right answer."""

    given: dict[str, Any]
    right: np.ndarray


def numbers(shape: tuple[int, ...], seed: int = 3) -> np.ndarray:
    return np.asarray(2 * np.random.default_rng(seed).integers(-8, 8, shape) + 1, np.float32)


def steps(u: np.ndarray, count: int) -> np.ndarray:
    for _ in range(count):
        v = u.copy()
        v[1:-1, 1:-1] = QUARTER * ((u[:-2, 1:-1] + u[2:, 1:-1]) + (u[1:-1, :-2] + u[1:-1, 2:]))
        u = v
    return u


def means(x: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # matrices without rows have no mean
        return x.sum(axis=1, dtype=np.float64).astype(np.float32) / np.float32(x.shape[1])


def transformed(x: np.ndarray) -> np.ndarray:
    """`x = 0.99 x + 0.5`, 64 times, in closed form."""
    return SLOPE**64 * x.astype(np.float64) + 0.5 * (1 - SLOPE**64) / (1 - SLOPE)


def filtered(shape: tuple[int, ...]) -> Call:
    n, length = shape
    x, taps = numbers((n + length - 1,)), numbers((length,), 4)
    right = np.correlate(x.astype(float), taps, "valid") if n else np.empty(0)
    return Call({"x": x, "taps": taps, "y": None}, right)


def unary(source: str, output: str, answer: Callable[[np.ndarray], Any]) -> Callable[[tuple[int, ...]], Call]:
    def call(shape: tuple[int, ...]) -> Call:
        x = numbers(shape)
        return Call({source: x, output: None}, np.asarray(answer(x)))

    return call


def saxpy(shape: tuple[int, ...]) -> Call:
    x, y = numbers(shape), numbers(shape, 4)
    return Call({"a": 2.5, "x": x, "y": y, "z": None}, 2.5 * x + y)


total = unary("x", "total", lambda x: [x.sum(dtype=np.float64)])
all_sums = unary("x", "y", lambda x: np.cumsum(x, dtype=np.float64).reshape(x.shape))
CALLS: dict[str, tuple[Callable[[tuple[int, ...]], Call], list[tuple[int, ...]]]] = {
    "doublify": (unary("x", "y", lambda x: 2 * x), SIZES + SHAPES),
    "saxpy": (saxpy, SIZES + SHAPES),
    "reduce": (total, SIZES + SHAPES),
    "device_reduce": (total, SIZES + SHAPES),
    "scan": (unary("x", "y", lambda x: np.cumsum(x, axis=-1).reshape(x.shape) if x.ndim else x), ROWS),
    "device_scan": (all_sums, SIZES + SHAPES + LONG),
    "long_scan": (all_sums, SIZES + SHAPES + LONG),
    "transpose": (unary("a", "b", np.transpose), MATRICES),
    "stencil": (unary("u", "v", lambda u: steps(u, 1)), PLATES),
    "colmeans": (unary("x", "means", means), STACKS),
    "apply_transform": (unary("x", "y", transformed), SIZES + SHAPES),
    "fir": (filtered, FILTERS),
}
"""For each function but `stencil_steps`: what makes a call of a shape, and shapes."""
RTOL = {"apply_transform": 1e-5}
ONE = {"scan": (7, 31), "transpose": (65, 127), "stencil": (37, 60), "colmeans": (3, 70, 33), "fir": (1009, 17)}


def placed(array: np.ndarray, offset: int) -> tuple[cupy.ndarray, cupy.ndarray]:
    """Return NaNs on the GPU, and in the middle a copy that starts `offset` floats after a multiple of 256 bytes."""
    around = cupy.full(array.size + 128 + offset, cupy.nan, cupy.float32)
    inside = around[64 + offset : 64 + offset + array.size].reshape(array.shape)
    inside[...] = cupy.asarray(array)
    return around, inside


def on_gpu(value: Any, offset: int = 0, wrap: Callable[[Any], Any] = cupy.asarray) -> Any:
    """Return an argument as a function takes it: arrays on the GPU, numbers as they are."""
    return wrap(placed(value, offset)[1]) if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize(("function", "shape"), [(name, shape) for name, (_, all_) in CALLS.items() for shape in all_])
def test_right_answers_and_nothing_beside_them(function: str, shape: tuple[int, ...]) -> None:
    """All at one address modulo 16 or each at another, and by three ways to describe an array."""
    call = CALLS[function][0](shape)
    before = np.full(call.right.shape, 0 if np.isnan(call.right).any() else np.nan, np.float32)
    for first, apart, wrap in [(0, 0, cupy.asarray), (0, 0, Interface), (0, 0, Dlpack), (1, 0, cupy.asarray),
                               (0, 1, cupy.asarray), (2, 1, cupy.asarray), (3, 2, cupy.asarray)]:  # fmt: skip
        around, output = placed(before, first)
        arguments = {
            name: wrap(output) if value is None else on_gpu(value, first + apart * number, wrap)
            for number, (name, value) in enumerate(call.given.items())
        }
        assert getattr(fourways_aot, function)(**arguments) is None
        np.testing.assert_allclose(output.get(), call.right, rtol=RTOL.get(function, 0))
        output.fill(cupy.nan)
        assert cupy.isnan(around).all(), "wrote beside the output"


@pytest.mark.parametrize("function", CALLS)
def test_all_work_is_queued_on_the_named_stream(function: str) -> None:
    """A graph captures it, and repeats it with other numbers."""
    make, shapes = CALLS[function]
    call = make(ONE.get(function, shapes[-1]))
    output = cupy.full(call.right.shape, cupy.nan, cupy.float32)
    arguments = {name: output if value is None else on_gpu(value) for name, value in call.given.items()}
    first = next(iter(bindings.arrays(function)))
    getattr(fourways_aot, function)(
        **arguments
    )  # CUDA loads a kernel at its first launch, which a capture may not allow
    kept = arguments[first].copy()
    arguments[first].fill(0)
    output.fill(cupy.nan)
    cupy.cuda.Device().synchronize()  # the stream does not wait for the default one
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
    getattr(fourways_aot, function)(**arguments, stream=stream)
    with stream:
        graph = stream.end_capture()
    assert cupy.isnan(output).all(), "a capture runs nothing"
    arguments[first][...] = kept
    for _ in range(2):
        output.fill(cupy.nan)
        cupy.cuda.Device().synchronize()
        graph.launch(stream)
        stream.synchronize()
        np.testing.assert_allclose(output.get(), call.right, rtol=RTOL.get(function, 0))


@pytest.mark.parametrize("a", [2.5, np.float32(2.5), np.float64(2.5), "on the GPU", -3, True, np.int64(7)])
def test_saxpy_converts_any_number(a: object) -> None:
    a = cupy.asarray(2.5) if a == "on the GPU" else a  # here, as collecting tests must not need a GPU
    x, z = cupy.arange(33, dtype=cupy.float32), cupy.full(33, cupy.nan, cupy.float32)
    fourways_aot.saxpy(a, x, x, z)
    assert (z == (float(a) + 1) * x).all()  # type: ignore[arg-type]
    for bad, error in (("two", TypeError), (cupy.ones(2), TypeError), (1e300, ValueError)):
        with pytest.raises(error, match=r"^saxpy(: |\(\): incompatible)"):
            fourways_aot.saxpy(bad, x, x, z)


# --- sums of numbers that float32 rounds ------------------------------------------------------------------------------


def test_sums_err_little_and_long_scan_gives_the_same_bits_in_every_run() -> None:
    x, total = cupy.random.default_rng(1).random(2**24, dtype=cupy.float32), cupy.zeros(1, cupy.float32)
    exact = cupy.cumsum(x, dtype=cupy.float64)
    for add in (fourways_aot.reduce, fourways_aot.device_reduce):
        add(x, total)
        assert abs(float(total[0]) - float(exact[-1])) <= 2200 * 2**-24 * float(exact[-1])  # 2048 blocks, few before
    runs = [cupy.full_like(x, cupy.nan) for _ in range(5)]
    for y in runs:
        fourways_aot.long_scan(x, y)
    assert all((y == runs[0]).all() for y in runs[1:])
    assert (abs(runs[0] - exact) <= 600 * 2**-24 * exact).all()  # far fewer than the elements added


def test_long_scan_runs_beside_other_work() -> None:
    """Its blocks wait for each other, so they must get onto the GPU together whatever else is there."""
    x, other = cupy.ones(2**24, cupy.float32), cupy.ones(2**26, cupy.float32)
    y, streams = cupy.full_like(x, cupy.nan), [cupy.cuda.Stream(non_blocking=True) for _ in range(2)]
    cupy.cuda.Device().synchronize()
    for _ in range(50):
        with streams[0]:
            other *= 1.0
        fourways_aot.long_scan(x, y, stream=streams[1])
    cupy.cuda.Device().synchronize()
    assert (y == cupy.arange(1, 2**24 + 1, dtype=cupy.float32)).all()


# --- many steps in one call -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["cupy", "torch", "numba"])
@pytest.mark.parametrize("number", [0, 1, 2, 7, 8])
def test_the_result_of_many_steps_lies_where_it_is_said_to(library: str, number: int) -> None:
    start = numbers((37, 60)) / 256
    poison, stream = np.full_like(start, np.nan), None
    if library == "torch":
        torch = pytest.importorskip("torch")
        u, v = torch.from_numpy(start).cuda(), torch.from_numpy(poison).cuda()
    elif library == "numba":
        cuda = pytest.importorskip("numba.cuda")
        stream = cuda.stream()
        u, v = cuda.to_device(start, stream=stream), cuda.to_device(poison, stream=stream)
    else:
        u, v = cupy.asarray(start), cupy.asarray(poison)
    result = fourways_aot.stencil_steps(u, v, number, stream=stream)
    assert result is (v if number % 2 else u)
    cupy.cuda.Device().synchronize()
    np.testing.assert_array_equal(cupy.asarray(result).get(), steps(start, number))
