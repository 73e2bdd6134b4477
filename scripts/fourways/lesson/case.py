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
from fourways.building import BuildError
from fourways.lesson.notebook import Lesson, LessonError, all_lessons, find, kernel_file
from fourways.lesson.ways import WAYS, Ways

_THREADS = 256
_UNJUDGED = (
    "Checked against the host way: a mistake in the kernel's idea goes unseen; give --reference expected.py:function."
)
_SIGNATURE = re.compile(
    r"\s*const\s+float\s*\*(?:\s*__restrict__)?\s*\w+\s*,\s*float\s*\*(?:\s*__restrict__)?\s*\w+\s*,"
    r"\s*(?:const\s+)?(?:long\s+long|(?:std::)?int64_t)\s+\w+\s*"
)


class Case:
    """The kernel `entry` in the file `path` (default: the only one there), its inputs, what is right, and its ways.

    `reference`, as `"expected.py:function"`, names the function that computes the right answer, y, from the float32
    array x, of the same shape. Without one, the right answer is what the host way computes on the CPU; the sentence
    `compared_with` says which.
    Raises LessonError for a file that is not there or no text, an unknown entry, another signature, or a reference
    that cannot be had.
    """

    rtol = 1e-5  # float32 rounds, and compilers may contract a product and a sum into one rounding

    def __init__(self, path: Path | str, entry: str | None = None, reference: str | None = None) -> None:
        self.path = kernel_file(str(path)).resolve()
        self.source = self.path.read_text(encoding="utf-8")
        self._named = named_reference(reference) if reference else None
        self.compared_with = f"Checked against {reference}." if reference else _UNJUDGED
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
        """The right answer, of the shape and dtype of x. Raises BuildError where only the host way could say it."""
        if self._named:
            return self._named(x)
        y = np.full_like(x, np.nan)
        self.function("host")(x, y)
        return y

    def function(self, way: str) -> Callable[..., None]:
        """The kernel as a function of x and y, compiled. Raises BuildError in the compiler's own words."""
        try:
            if way == "pycuda":
                return self._pycuda()
            kernel = self._host if way == "host" else self._cupy(way)
        except Exception as error:  # CuPy's and PyCUDA's compilers have exceptions of their own
            judge = ", which says what is right where no --reference does," if way == "host" and not self._named else ""
            raise BuildError(f"{way}{judge} refused {self.path.name}", str(error)) from None
        return lambda x, y: kernel(_grid(x), (_THREADS,), (x, y, np.int64(x.size)))

    @functools.cached_property
    def _host(self) -> host.HostKernel:
        return host.compile(self.path).get_function(self.entry)

    def _cupy(self, backend: str) -> Any:
        import cupy

        toolchain.activate()
        module = cupy.RawModule(code=self.source, backend=backend, options=(f"-I{self.path.parent}",))
        return module.get_function(self.entry)

    def _pycuda(self) -> Callable[..., None]:
        import pycuda.autoprimaryctx  # noqa: F401  # shares CuPy's context
        from pycuda.compiler import SourceModule

        toolchain.activate()
        module = SourceModule(self.source, no_extern_c=True, include_dirs=[str(self.path.parent)])
        kernel = module.get_function(self.entry)
        return lambda x, y: kernel(x, y, np.int64(x.size), grid=(*_grid(x), 1), block=(_THREADS, 1, 1))

    def ways(self, chosen: Sequence[str] = ()) -> Ways:
        """The ways that can run here, of those `chosen`, or all; no other is compiled.

        Raises BuildError in the words of the first compiler that refuses. With a reference the host way is no more than
        `missing` then: the others can still be checked.
        """
        missing = {way: reason for way in WAYS if (reason := toolchain.missing(way))}
        missing["pybind11"] = "a kernel of your own has no binding (lesson 05 writes one)"
        functions: dict[str, Callable[..., None]] = {}
        for way in [each for each in chosen or WAYS if each not in missing]:
            try:
                functions[way] = self.function(way)
            except BuildError as error:
                if way != "host" or not self._named:
                    raise
                missing["host"] = str(error)
        return Ways(self.entry, self.make_inputs, self.reference, functions, missing, self.rtol)


def lesson_or_case(name: str, entry: str | None = None, reference: str | None = None) -> Lesson | Case:
    """What a user who says `name` wants to run: a lesson, by its number, its name or its kernel's, or another kernel.

    Another kernel is a file, or one of `cpp/kernels` by its name; `entry` and `reference` are a `Case`'s.
    Raises LessonError for a name of neither, and as `Case` does.
    """
    if kernels.is_file(name):
        return Case(name, entry, reference)
    try:
        return find(name)
    except LessonError:
        if name not in kernels.names():
            raise
    lessons = all_lessons()
    if about := [found for found in lessons if found.meta["kernel"] == name]:
        return about[0]
    try:
        return Case(kernels.path(name), entry, reference)
    except LessonError as error:
        also = [found.number for found in lessons if name in found.meta.get("also", ())]
        hint = f"\nlesson {also[0]} calls it: fourways run {also[0]}" if also else ""
        raise LessonError(f"{error}{hint}") from None


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
