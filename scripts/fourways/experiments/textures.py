"""What the page on textures and cooperative groups builds and measures, and the judge of its exercise.

Building needs nvcc and a C++ compiler, the judge neither; everything else runs on a GPU.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fourways import checking, measuring
from fourways.experiments import projects
from fourways.tables import Row, Table

_LISTS = """
cmake_minimum_required(VERSION 3.25...4.0)
project(turned LANGUAGES CXX CUDA)
find_package(Python COMPONENTS Interpreter Development.Module REQUIRED)
find_package(pybind11 CONFIG REQUIRED)
pybind11_add_module(turned NO_EXTRAS turned.cu)
target_compile_features(turned PRIVATE cuda_std_17)
"""
_MODULE = """
#include <pybind11/pybind11.h>
#include <stdexcept>
KERNELS
static void check(cudaError_t error)
{
    if (error != cudaSuccess)
        throw std::runtime_error(cudaGetErrorString(error));
}
#line 1 "texture"
YOURS
PYBIND11_MODULE(turned, m)
{
    pybind11::class_<Texture>(m, "Texture").def(pybind11::init<size_t, int, int>()).def("turn", &Texture::turn);
}
"""
_folders: list[Any] = []  # of loaded modules, kept until this process ends

Turn = Callable[[Any, float], None]
"""A function of the output (h, w), float32 on the GPU, and an angle in degrees, which turns its picture into it."""


def build(texture: str, kernels: str, arch: str = "90") -> Any:
    """Build and import a pybind11 module from the C++ text of a class `Texture` and of the kernels that it launches.

    The class has a constructor (address, h, w) and a method `turn`; `check` throws if a call of CUDA fails. CMake
    builds the module for `arch`. Raises BuildError.
    """
    folder = TemporaryDirectory(prefix="fourways-")
    _folders.append(folder)
    root, built = Path(folder.name), Path(folder.name, "build")
    (root / "CMakeLists.txt").write_text(_LISTS)
    (root / "turned.cu").write_text(_MODULE.replace("KERNELS", kernels).replace("YOURS", texture))
    options = [f"-DCMAKE_CUDA_ARCHITECTURES={arch}-real"]
    projects.build_with_cmake(root, built, options, "CMake could not build the module")
    return projects.imported("turned", next(built.glob("turned*.so")))


def turned(picture: np.ndarray, degrees: float) -> np.ndarray:
    """Return a picture (h, w) turned about its middle, interpolated between pixels, in float64.

    A place outside of the picture gets the nearest pixel.
    """
    h, w = picture.shape
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    dx, dy = np.arange(w) - w / 2, (np.arange(h) - h / 2)[:, None]
    u, v = c * dx - s * dy + w / 2, s * dx + c * dy + h / 2
    left, top = np.floor(u), np.floor(v)
    a, b = u - left, v - top
    columns = [np.clip(left + i, 0, w - 1).astype(int) for i in (0, 1)]
    rows = [np.clip(top + i, 0, h - 1).astype(int) for i in (0, 1)]
    wide = picture.astype(np.float64)
    upper, lower = ((1 - a) * wide[row, columns[0]] + a * wide[row, columns[1]] for row in rows)
    return (1 - b) * upper + b * lower


def errors(turns: Mapping[str, Turn], picture: Any, degrees: float = 30) -> Table:
    """Turn a picture (h, w), float32 on the GPU, in each way, and return the largest error against NumPy.

    Raises AssertionError if an error is above 1/64 of the picture's range.
    """
    import cupy as cp

    right, rows = turned(picture.get(), degrees), list[Row]()
    for name, turn in turns.items():
        out = cp.full(picture.shape, cp.nan, cp.float32)
        turn(out, degrees)
        error = float(np.max(np.abs(out.get() - right)))
        assert error < np.ptp(right) / 64, f"{name}: off by {error}"
        rows.append({"turned": name, "largest_error": f"{error:.1e}"})
    return Table("errors", rows)


def angles(turns: Mapping[str, Turn], out: Any, degrees: Sequence[float]) -> Table:
    """Time each function at each angle (device clock), and the device copy of as many bytes as a picture twice."""
    calls = {f"{name}, {angle}°": partial(turn, out, angle) for angle in degrees for name, turn in turns.items()}
    return measuring.time_calls(calls, moved=2 * out.nbytes, name="angles")


def barrier(once: Any, adds: Any, divides: Any, size: int) -> Table:
    """Time the shares of `size` random numbers by one cooperative launch, and by two launches (device clock).

    The kernels take (x, y, total, n), and add x to the float64 `total`, which is cleared before, and divide by it.
    Raises AssertionError if an answer is wrong.
    """
    import cupy as cp

    x, total = cp.random.default_rng(1).random(size, dtype=cp.float32), cp.zeros(1)
    y, blocks = cp.empty_like(x), 4 * cp.cuda.Device().attributes["MultiProcessorCount"]

    def launch(*kernels: Any) -> None:
        total.fill(0)
        for kernel in kernels:
            kernel((blocks,), (256,), (x, y, total, np.int64(size)))

    calls = {"one launch": partial(launch, once), "two launches": partial(launch, adds, divides)}
    right = x / x.sum(dtype=np.float64)
    measuring.require_right(calls, y, lambda: cp.allclose(y, right, rtol=1e-5, atol=0))
    return measuring.time_calls(calls, name="barrier")


def check_linear(function: Callable[[np.ndarray, float], Any]) -> str:
    """Judge `function(values, x)`: a one-dimensional texture with linear filter and clamping, at coordinate x.

    The coordinate is not normalised: the middle of element i lies at i + 0.5. It is tried at middles, between them, at
    both ends and far outside, with fractions that are multiples of 1/256.
    """
    numbers = np.random.default_rng()
    length = int(numbers.integers(9, 14))
    values = (1 + numbers.permutation(50)[:length]).astype(np.float32)  # each once: no two answers agree by chance
    values[::2] *= -1  # an answer that loses the sign is wrong
    values[3:5] = numbers.integers(60, 100) + np.array([0, 7])
    cases = [
        (3.5, "at the middle of element 3"),
        (4.0, "on the border of elements 3 and 4"),
        (3.75, "a quarter of the way from element 3 to element 4"),
        (0.25, "left of the first element's middle"),
        (-6.0, "far to the left of the texture"),
        (length - 0.25, "right of the last element's middle"),
        (40.0, "far to the right of the texture"),
    ]
    cases += [(float(place), "between two elements") for place in numbers.integers(128, 256 * (length - 1), 30) / 256]
    for x, case in cases:
        answer, right = function(values.copy(), x), np.interp(x - 0.5, np.arange(length), values)
        if (number := checking.as_float(answer)) is None:
            return f"Not yet: {case}: {answer!r} is not a number."
        if not abs(number - right) < 1e-3:
            return f"Not yet: x = {x:g}, {case}: {number:g} is not what the texture returns."
    return f"Right at {len(cases)} places."
