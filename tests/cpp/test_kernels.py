"""The kernels on the CPU, by the host way: right for any size, address, grid and macro; nothing beside, no race."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from fourways import host, kernels, toolchain

pytestmark = pytest.mark.skipif(not toolchain.host_compiler(), reason=str(toolchain.missing("host compiler")))

SIZES = (0, 1, 3, 4, 5, 8, 9, 31, 32, 33, 255, 257, 1009)
MATRICES = [(0, 0), (0, 5), (5, 0), (1, 1), (1, 33), (33, 1), (31, 33), (64, 64), (65, 127), (7, 1009)]
PLATES = [*itertools.product((0, 1, 2, 3, 4, 5, 9), (0, 1, 2, 3, 4, 5, 8, 31)), (64, 1), (1, 300), (7, 1030)]
STACKS = [(0, 3, 5), (1, 1, 1), (2, 3, 5), (3, 70, 9), (1, 33, 17), (2, 8, 8), (2, 5, 0), (2, 0, 5), (1, 1009, 2)]
OUT = object()  # stands for the output among a kernel's arguments
TAPS = np.asarray(np.random.default_rng(5).random(17, np.float32) + 0.5)


class Launch(NamedTuple):
    """The arguments of a launch, its right answer, and the number that the output holds before."""

    arguments: tuple[Any, ...]
    right: Any
    before: float = np.nan


def floats(shape: Any, seed: int = 3) -> np.ndarray:
    """Return odd multiples of 1/256 below 1, none of them 0: float32 adds thousands of them exactly, in any order."""
    return ((2 * np.random.default_rng(seed).integers(0, 128, shape) + 1) / 256).astype(np.float32)


def doublify(n: int) -> Launch:
    return Launch((floats(n), OUT, np.int64(n)), 2 * floats(n))


def saxpy(n: int) -> Launch:
    x, y = floats(n), floats(n, 4)
    return Launch((np.float32(2.5), x, y, OUT, np.int64(n)), 2.5 * x + y)


def transpose(shape: tuple[int, int]) -> Launch:
    a = floats(shape)
    return Launch((a, OUT, *map(np.int64, shape)), a.T)


def stencil(shape: tuple[int, int]) -> Launch:
    u = floats(shape)
    v = u.copy()
    for i, j in itertools.product(range(1, shape[0] - 1), range(1, shape[1] - 1)):
        v[i, j] = sum(map(float, (u[i - 1, j], u[i + 1, j], u[i, j - 1], u[i, j + 1]))) / 4
    return Launch((u, OUT, *map(np.int64, shape)), v)


def colmeans(shape: tuple[int, int, int]) -> Launch:
    x = floats(shape)
    with np.errstate(invalid="ignore"):
        means = x.sum(axis=1, dtype=np.float64).astype(np.float32) / np.float32(shape[1])
    return Launch((x, OUT, *map(np.int64, shape)), means)


def reduced(n: int, x: np.ndarray, terms: np.ndarray) -> Launch:
    """A sum that is added to what `total` holds."""
    return Launch((x, OUT, np.int64(n)), np.array([10 + terms.sum()]), before=10)


def reduce(n: int) -> Launch:
    return reduced(n, floats(n), floats(n).astype(float))


def squares(n: int) -> Launch:
    x = np.round(8 * floats(n))
    return reduced(n, x, x.astype(float) ** 2)


def filtered(length: int, read: bool = True) -> Callable[[int], Launch]:
    """A filter of some of TAPS. Where they are compiled in, `read` is False, and the array of taps holds no number."""

    def fir(n: int) -> Launch:
        taps, x = TAPS[:length], floats(n + length - 1)
        right = np.array([np.dot(x[i : i + length].astype(float), taps) for i in range(n)])
        given = taps if read else np.full_like(taps, np.nan)
        return Launch((x, given, np.int32(length), OUT, np.int64(n)), right)

    return fir


def transformed(calls: int) -> Callable[[int], Launch]:
    def apply_transform(n: int) -> Launch:
        x = floats(n)
        y = x.astype(float)
        for _ in range(calls):
            y = np.float32(0.99) * y + 0.5
        return Launch((x, OUT, np.int64(n)), y)

    return apply_transform


def escape_time(shape: tuple[int, int]) -> Launch:
    """Steps of z² + point inside the circle of radius 2. The points are exact in float32."""
    left, top, pixel, most = -2.0, 1.25, 0.0625, 12
    points = left + pixel * np.arange(shape[1]) + 1j * (top - pixel * np.arange(shape[0]))[:, None]
    z, steps, inside = points, np.zeros(shape), np.ones(shape, bool)
    for _ in range(most):
        inside &= np.abs(z) <= 2
        steps += inside
        z = np.where(inside, z * z + points, 4)
    return Launch((OUT, *map(np.int64, shape), *map(np.float32, (left, top, pixel))), steps)


FLAT = [((1,), (32,)), ((3,), (32,)), ((64,), (32,))]
FEW = ("-DCOLS=4", "-DROWS=2")  # few OS threads
ON_PLATES = [((1, 1), (1, 1)), ((1, 1), (128, 2)), ((2, 3), (5, 3))]
ON_MATRICES = [(grid, (4, 2)) for grid in ((1, 1), (3, 2), (20, 20))]
ON_STACKS = [((grid,), (8,)) for grid in (1, 3, 40)]
EIGHT = "-DTHREADS=8"
WRITTEN = ",".join(f"{tap.hex()}f" for tap in TAPS[:16].tolist())


class Form(NamedTuple):
    """A kernel with some macros, the launches that are tried, and the sizes or shapes."""

    kernel: str
    options: tuple[str, ...]
    launch_of: Callable[[Any], Launch]
    grids: list[tuple[tuple, tuple]]
    sizes: Any


FORMS = [
    Form("doublify", (), doublify, FLAT, SIZES),
    *(Form("saxpy", (f"-DVECTOR={n}",), saxpy, FLAT, SIZES) for n in (4, 1, 2, 8)),
    *(Form("apply_transform", (f"-DCALLS={n}",), transformed(n), FLAT[1:2], SIZES) for n in (3, 1, 0)),
    Form("apply_transform", (), transformed(64), FLAT[1:2], SIZES),
    Form("reduce", (), reduce, [((1,), (32,)), ((3,), (64,)), ((2,), (256,)), ((1,), (1024,))], SIZES),
    Form("reduce", ("-DTERM(v)=((v)*(v))",), squares, [((3,), (64,))], SIZES),
    Form("fir", ("-DLENGTH=16", "-DOUTPUTS=4"), filtered(16), FLAT, SIZES),
    *(Form("fir", (f"-DOUTPUTS={n}",), filtered(length), FLAT, SIZES) for length, n in ((1, 1), (5, 2), (17, 8))),
    Form("fir", (f"-DTAPS={WRITTEN}", "-DOUTPUTS=4"), filtered(16, read=False), FLAT, SIZES),
    *(Form("stencil", macros, stencil, ON_PLATES, PLATES)
      for macros in ((), ("-DROWS=1", "-DCOLUMNS=1"), ("-DROWS=3", "-DCOLUMNS=2"))),
    *(Form("transpose", (*FEW, *macros), transpose, ON_MATRICES, MATRICES)
      for macros in ((), ("-DTILED=0",), ("-DPAD=0",), ("-DTILE=32",))),
    Form("transpose", ("-DTILE=8", "-DCOLS=8", "-DROWS=1"), transpose, [((3, 2), (8, 1))], MATRICES),
    Form("transpose", (), transpose, [((1, 3), (32, 8))], [(129, 63)]),
    *(Form("colmeans", (EIGHT, *macros), colmeans, ON_STACKS, STACKS)
      for macros in (("-DCOLUMNS=1",), ("-DCOLUMNS=2",), ("-DCOLUMNS=8",), ("-DCOLUMNS=4", "-DROOM=12288"),
                     ("-DCOLUMNS=4", "-DAHEAD=1"), ("-DCOLUMNS=4", "-DAHEAD=16"))),
    Form("colmeans", (), colmeans, [((2,), (128,))], [(2, 37, 70)]),
    Form("escape_time", ("-DSTEPS=12",), escape_time, [(grid, (8, 4)) for grid in ((1, 1), (3, 2))],
         [(0, 5), (5, 0), (1, 1), (7, 33), (40, 61)]),
]  # fmt: skip


ELSEWHERE = {
    "scan": "CUB, which needs a GPU: tests/gpu/test_cub.py",
    "normalise": "CUB, which needs a GPU: tests/gpu/test_cub.py",
    "long_scan": "CUB, which needs a GPU: tests/gpu/test_bindings.py",
}
"""The kernels without a form: why, and the test that asks for the right answer."""


def test_every_kernel_is_asked_for_its_right_answer(root: Path) -> None:
    """A new kernel gets a form, or a reason in ELSEWHERE."""
    assert sorted([*{form.kernel for form in FORMS}, *ELSEWHERE]) == kernels.names()
    for kernel, why in ELSEWHERE.items():
        assert f'"{kernel}"' in (root / why.partition(": ")[2]).read_text("utf-8")


def shifted(array: np.ndarray, offset: int) -> tuple[np.ndarray, np.ndarray]:
    """Return NaNs, and in the middle of them a copy that starts `offset` floats after a multiple of 32 bytes."""
    around = np.full(array.size + 96, np.nan, np.float32)
    start = 32 + offset + (-around.ctypes.data // 4) % 8
    inside = around[start : start + array.size].reshape(array.shape)
    inside[...] = array
    return around, inside


def run(kernel: host.HostKernel, launch: Launch, grid: tuple, block: tuple, offsets: tuple[int, ...] = (0,)) -> None:
    """Compare one launch with its right answer; raises AssertionError where it is wrong or writes beside the output."""
    arguments, around, output = [], None, None
    places = itertools.cycle(offsets)
    for value in launch.arguments:
        if value is OUT:
            around, output = shifted(np.full(launch.right.shape, launch.before, np.float32), next(places))
            value = output
        elif isinstance(value, np.ndarray):
            value = shifted(value, next(places))[1]
        arguments.append(value)
    assert around is not None and output is not None
    kernel(grid, block, tuple(arguments))
    np.testing.assert_allclose(output, launch.right, rtol=1e-5, err_msg=f"{launch.right.shape} {grid} {offsets}")
    output[...] = np.nan
    assert np.isnan(around).all(), f"{launch.right.shape} {grid} {offsets}: wrote beside the output"


def name(form: Form) -> str:
    return " ".join((form.kernel, *form.options))[:40]


@pytest.mark.parametrize("form", FORMS, ids=name)
def test_right_for_any_size_and_grid(form: Form) -> None:
    kernel = host.compile(kernels.path(form.kernel), form.options).get_function(form.kernel)
    for size, (grid, block) in itertools.product(form.sizes, form.grids):
        run(kernel, form.launch_of(size), grid, block)


ONE_OF_EACH = {form.kernel: form for form in reversed(FORMS)}  # the first of each


@pytest.mark.parametrize("kernel", ["saxpy", "reduce", "fir", "stencil", "transpose", "colmeans"])
def test_right_at_any_address(kernel: str) -> None:
    """Packs of numbers are loaded only where every array starts at a multiple of their size."""
    _, options, launch_of, grids, sizes = ONE_OF_EACH[kernel]
    compiled = host.compile(kernels.path(kernel), options).get_function(kernel)
    wide = [(9, 16), (64, 128)] if kernel in ("stencil", "transpose") else sizes
    for size, offsets in itertools.product(wide, ((1,), (1, 0, 0), (0, 2, 0), (0, 0, 3), (4,), (2,))):
        run(compiled, launch_of(size), *grids[-1], offsets)


@pytest.mark.parametrize("kernel", ONE_OF_EACH)
def test_no_access_outside_of_the_arrays(kernel: str) -> None:
    _, options, launch_of, grids, sizes = ONE_OF_EACH[kernel]
    compiled = host.compile(kernels.path(kernel), options, sanitize="address").get_function(kernel)
    for size in [*sizes[1:6], sizes[-1]]:
        arguments, right, before = launch_of(size)
        output = np.full(right.shape, before, np.float32)  # of its own, with no NaN beside it
        compiled(*grids[-1], tuple(output if value is OUT else value for value in arguments))
        np.testing.assert_allclose(output, right, rtol=1e-5)


SHARED = {"transpose": (80, 150), "colmeans": (2, 9, 7), "reduce": 130}  # one block moves several pieces


@pytest.mark.parametrize("kernel", SHARED)
def test_no_race(kernel: str) -> None:
    _, options, launch_of, grids, _ = ONE_OF_EACH[kernel]
    compiled = host.compile(kernels.path(kernel), options, sanitize="thread").get_function(kernel)
    run(compiled, launch_of(SHARED[kernel]), *grids[0])
