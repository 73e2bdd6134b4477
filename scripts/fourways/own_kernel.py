"""A kernel of your own, outside any lesson, called in the ways that need no binding: to be checked, timed, profiled.

Its signature must be that of the first lessons, whatever the names:

    extern "C" __global__ void mine(const float *x, float *y, long long n)

and it must write all n elements of y for any grid that has at least one thread an element.
"""

import re
import runpy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fourways import host, kernels, toolchain
from fourways.building import BuildError, with_advice
from fourways.lesson import LessonError, Ways

RTOL = 1e-5
"""Relative tolerance of a check: float32 rounds, and compilers may contract a product and a sum into one rounding."""

_THREADS = 256
_SIGNATURE = re.compile(
    r"\s*const\s+float\s*\*(?:\s*__restrict__)?\s*\w+\s*,\s*float\s*\*(?:\s*__restrict__)?\s*\w+\s*,"
    r"\s*(?:const\s+)?(?:long\s+long|(?:std::)?int64_t)\s+\w+\s*"
)


def ways(
    path: Path, entry: str | None = None, reference: str | None = None, chosen: Sequence[str] | None = None
) -> Ways:
    """The ways of the kernel `entry` in the file `path` (default: the only one there): those `chosen`, or all.

    No other is compiled, but for the host way where it has to say what is right.

    `reference`, as `"expected.py:function"`, names the function that computes the right answer, y, from the float32
    array x, of the same shape. Without one, the right answer is what the host way computes on the CPU.
    Raises LessonError for an unknown entry, another signature, or a reference that cannot be had, and BuildError in the
    compiler's own words. A kernel that only the host way cannot compile can still be checked against a reference.
    """
    path = path.resolve()
    source = path.read_text(encoding="utf-8")
    parameters = kernels.parameters(source)
    found = entry or (next(iter(parameters)) if len(parameters) == 1 else "")
    if found not in parameters:
        there = ", ".join(parameters) or "none"
        problem = f"no kernel {entry!r} in" if entry else "--entry must name the kernel to take from"
        raise LessonError(f"{problem} {path.name}; there are: {there}")
    if not _SIGNATURE.fullmatch(parameters[found]):
        raise LessonError(
            f"{path.name}: {found}({parameters[found]}) cannot be called here; wanted the signature\n"
            f"{found}(const float *x, float *y, long long n)"
        )
    missing = {way: reason for way in ("nvrtc", "nvcc", "pycuda", "host") if (reason := toolchain.missing(way))}
    missing["pybind11"] = "a kernel of your own has no binding (lesson 05 writes one)"
    makers = {"nvrtc": _cupy, "nvcc": _cupy, "pycuda": _pycuda, "host": _host}
    functions: dict[str, Callable[..., None]] = {}
    wanted = {*(chosen or makers), *(() if reference else ("host",))}
    for way, make in makers.items():
        if way not in wanted:
            continue
        try:
            functions |= {way: make(path, source, found, way)} if way not in missing else {}
        except Exception as error:  # CuPy's and PyCUDA's compilers have exceptions of their own
            if way != "host":
                raise BuildError(with_advice(f"{way} refused {path.name}:\n{error}")) from None
            missing["host"] = with_advice(str(error))
    if reference:
        expected = named_reference(reference)
    elif "host" in functions:
        expected = _by_host(functions["host"])
    else:
        without = f"Without the host way only a reference can say what is right of {found}: --reference"
        raise BuildError(f"{missing['host']}\n{without}")
    return Ways(found, _inputs, expected, functions, missing, RTOL)


def _inputs(size: int) -> tuple[np.ndarray]:
    return (np.random.default_rng(1).standard_normal(size, dtype=np.float32),)


def _grid(x: Any) -> tuple[int]:
    return (max(1, -(-x.size // _THREADS)),)


def _cupy(path: Path, source: str, entry: str, way: str) -> Callable[..., None]:
    import cupy

    toolchain.activate()
    kernel = cupy.RawModule(code=source, backend=way, options=(f"-I{path.parent}",)).get_function(entry)
    return lambda x, y: kernel(_grid(x), (_THREADS,), (x, y, np.int64(x.size)))


def _pycuda(path: Path, source: str, entry: str, way: str) -> Callable[..., None]:
    import pycuda.autoprimaryctx  # noqa: F401  # shares CuPy's context
    from pycuda.compiler import SourceModule

    toolchain.activate()
    kernel = SourceModule(source, no_extern_c=True, include_dirs=[str(path.parent)]).get_function(entry)
    return lambda x, y: kernel(x, y, np.int64(x.size), grid=(*_grid(x), 1), block=(_THREADS, 1, 1))


def _host(path: Path, source: str, entry: str, way: str) -> Callable[..., None]:
    kernel = host.compile(path).get_function(entry)
    return lambda x, y: kernel(_grid(x), (_THREADS,), (x, y, np.int64(x.size)))


def _by_host(function: Callable[..., None]) -> Callable[[np.ndarray], np.ndarray]:
    def reference(x: np.ndarray) -> np.ndarray:
        y = np.full_like(x, np.nan)
        function(x, y)
        return y

    return reference


def named_reference(reference: str) -> Callable[[np.ndarray], np.ndarray]:
    """The function that `"expected.py:function"` names, its result as float32.

    Raises LessonError if there is none; so does the function where the named one fails or gives another shape.
    """
    file, _, name = reference.rpartition(":")
    if not Path(file).is_file():
        raise LessonError(f"no file {file!r}: a reference is named as expected.py:function")
    try:
        function = runpy.run_path(file).get(name)
    except Exception as error:
        raise LessonError(f"{file} cannot be run: {type(error).__name__}: {error}") from None
    if not callable(function):
        raise LessonError(f"{file} defines no function {name!r}")

    def expected(x: np.ndarray) -> np.ndarray:
        try:
            return np.asarray(function(x)).astype(np.float32).reshape(x.shape)
        except Exception as error:
            raise LessonError(f"the reference {reference}: {type(error).__name__}: {error}") from None

    return expected


def is_file(name: str) -> bool:
    """Whether a command was given a kernel file rather than a lesson."""
    return Path(name).suffix in (".cu", ".cuh")
