"""A kernel of your own, outside any lesson, called in the ways that need no binding: to be checked, timed, profiled.

Its signature must be that of the first lessons, whatever the names:

    extern "C" __global__ void mine(const float *x, float *y, long long n)

and it must write all n elements of y for any grid that has at least one thread an element.
"""

import functools
import re
import runpy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fourways import host, kernels, toolchain
from fourways.building import BuildError, with_advice
from fourways.lesson.notebook import LessonError, kernel_file
from fourways.lesson.ways import Ways

_THREADS = 256
_SIGNATURE = re.compile(
    r"\s*const\s+float\s*\*(?:\s*__restrict__)?\s*\w+\s*,\s*float\s*\*(?:\s*__restrict__)?\s*\w+\s*,"
    r"\s*(?:const\s+)?(?:long\s+long|(?:std::)?int64_t)\s+\w+\s*"
)


class Case:
    """The kernel `entry` in the file `path` (default: the only one there), its inputs, what is right, and its ways.

    `named`, as `"expected.py:function"`, names the function that computes the right answer, y, from the float32
    array x, of the same shape. Without one, the right answer is what the host way computes on the CPU.
    Raises LessonError for an unknown entry, another signature, or a reference that cannot be had.
    """

    rtol = 1e-5  # float32 rounds, and compilers may contract a product and a sum into one rounding

    def __init__(self, path: Path | str, entry: str | None = None, named: str | None = None) -> None:
        self.path = kernel_file(str(path)).resolve()
        self.source = self.path.read_text(encoding="utf-8")
        self.named = named_reference(named) if named else None
        parameters = kernels.parameters(self.source)
        self.entry = entry or (next(iter(parameters)) if len(parameters) == 1 else "")
        if self.entry not in parameters:
            there = ", ".join(parameters) or "none"
            problem = f"no kernel {entry!r} in" if entry else "--entry must name the kernel to take from"
            raise LessonError(f"{problem} {self.path.name}; there are: {there}")
        if not _SIGNATURE.fullmatch(parameters[self.entry]):
            raise LessonError(
                f"{self.path.name}: {self.entry}({parameters[self.entry]}) cannot be called here; wanted the "
                f"signature\n{self.entry}(const float *x, float *y, long long n)"
            )

    def make_inputs(self, size: int) -> tuple[np.ndarray]:
        """`size` normal random numbers, float32."""
        return (np.random.default_rng(1).standard_normal(size, dtype=np.float32),)

    def reference(self, x: np.ndarray) -> np.ndarray:
        """The right answer, of the shape and dtype of x."""
        if self.named:
            return self.named(x)
        y = np.full_like(x, np.nan)
        self._by_host(x, y)
        return y

    @functools.cached_property
    def _by_host(self) -> Callable[..., None]:
        try:
            return self.function("host")
        except BuildError as error:
            without = f"Without the host way only a reference can say what is right of {self.entry}: --reference"
            raise BuildError(f"{error}\n{without}") from None

    def function(self, way: str) -> Callable[..., None]:
        """The kernel as a function of x and y, compiled. Raises BuildError in the compiler's own words."""
        try:
            return {"nvrtc": self._cupy, "nvcc": self._cupy, "pycuda": self._pycuda, "host": self._host}[way](way)
        except Exception as error:  # CuPy's and PyCUDA's compilers have exceptions of their own
            raise BuildError(with_advice(f"{way} refused {self.path.name}:\n{error}")) from None

    def _cupy(self, way: str) -> Callable[..., None]:
        import cupy

        toolchain.activate()
        options = (f"-I{self.path.parent}",)
        kernel = cupy.RawModule(code=self.source, backend=way, options=options).get_function(self.entry)
        return lambda x, y: kernel(_grid(x), (_THREADS,), (x, y, np.int64(x.size)))

    def _pycuda(self, way: str) -> Callable[..., None]:
        import pycuda.autoprimaryctx  # noqa: F401  # shares CuPy's context
        from pycuda.compiler import SourceModule

        toolchain.activate()
        module = SourceModule(self.source, no_extern_c=True, include_dirs=[str(self.path.parent)])
        kernel = module.get_function(self.entry)
        return lambda x, y: kernel(x, y, np.int64(x.size), grid=(*_grid(x), 1), block=(_THREADS, 1, 1))

    def _host(self, way: str) -> Callable[..., None]:
        kernel = host.compile(self.path).get_function(self.entry)
        return lambda x, y: kernel(_grid(x), (_THREADS,), (x, y, np.int64(x.size)))

    def ways(self, chosen: Sequence[str] = ()) -> Ways:
        """The ways that can run here, of those `chosen`, or all. No other is compiled, but for the host way where it
        has to say what is right. Raises BuildError in the words of the first compiler that refuses.
        """
        missing = {way: reason for way in ("nvrtc", "nvcc", "pycuda", "host") if (reason := toolchain.missing(way))}
        missing["pybind11"] = "a kernel of your own has no binding (lesson 05 writes one)"
        if not self.named:
            self._by_host  # noqa: B018  # it is asked first: without it nothing can be checked
        functions: dict[str, Callable[..., None]] = {}
        for way in ("nvrtc", "nvcc", "pycuda", "host"):
            if way in missing or way not in (chosen or (way,)):
                continue
            try:
                functions[way] = self.function(way)
            except BuildError as error:
                if way != "host":
                    raise
                missing["host"] = str(error)
        return Ways(self.entry, self.make_inputs, self.reference, functions, missing, self.rtol)


def _grid(x: Any) -> tuple[int]:
    return (max(1, -(-x.size // _THREADS)),)


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
