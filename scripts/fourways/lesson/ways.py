"""The ways of a lesson: the functions that its cells define."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fourways import toolchain
from fourways.lesson.notebook import Lesson, LessonError

WAYS = ("nvrtc", "nvcc", "pycuda", "pybind11", "host")
_WAY_FUNCTION = re.compile(rf"(\w+)_({'|'.join(WAYS)})")

GPU_SIZE = 2**26
"""Elements timed on a GPU: arrays several times larger than any L2 cache, small enough for a 4 GB card."""

HOST_SIZE = 2**22
"""Elements timed on the CPU."""


@dataclass
class Ways:
    """The functions of one lesson that do the same thing in different ways.

    `make_inputs(size)` returns a tuple of NumPy arrays and scalars; `reference(*inputs)` returns the expected output,
    an array of the dtype that the kernel writes; of several outputs a mapping, by name. Each of `functions`, keyed by
    way, takes `(*inputs, *outputs)` and writes the outputs: CuPy arrays for a GPU way, NumPy arrays for `host`. An
    output that `in_place` names by its number holds before what the input of the number beside it holds.
    `sizes` are those to check at, where they are the kernel's own. An answer may differ by `atol + rtol * abs(right)`.
    `missing` holds, for every way that cannot run on this machine, one line with the remedy.
    """

    kernel: str
    make_inputs: Callable[[int], tuple]
    reference: Callable
    functions: dict[str, Callable[..., None]]
    missing: dict[str, str] = field(default_factory=dict)
    rtol: float = 0.0
    sizes: tuple[int, ...] = ()
    in_place: Mapping[int, int] = field(default_factory=dict)
    atol: float = 0.0

    @property
    def runnable(self) -> dict[str, Callable[..., None]]:
        """The functions that can run on this machine, keyed by way."""
        return {way: function for way, function in self.functions.items() if way not in self.missing}

    def called(self, way: str) -> str:
        """What messages call a way: `doublify_nvrtc`, or of several files `a.cu, nvrtc`."""
        return way if ", " in way else f"{self.kernel}_{way}"

    def only(self, chosen: Collection[str]) -> "Ways":
        """These ways without those not chosen."""
        functions = {way: function for way, function in self.functions.items() if way in chosen}
        missing = {way: why for way, why in self.missing.items() if way in chosen}
        return replace(self, functions=functions, missing=missing)


def collect(namespace: Mapping[str, Any], rtol: float = 0.0) -> Ways:
    """The ways defined so far, found by name (`<kernel>_<way>`): call it in a lesson as `collect(globals())`.

    `rtol` is the relative tolerance that checking allows; the default asks for the exact result.
    Raises LessonError where no way, or the ways of more than one kernel, or no `make_inputs`/`reference` are defined.
    """
    found = {match.groups(): namespace[name] for name in namespace if (match := _WAY_FUNCTION.fullmatch(name))}
    missing = {way: reason for way in WAYS if (reason := toolchain.missing(way))}
    names = sorted({kernel for kernel, _ in found})
    if not names and missing:
        raise LessonError("no way is defined; " + "; ".join(f"{way}: {reason}" for way, reason in missing.items()))
    if len(names) != 1:
        raise LessonError(f"expected functions <kernel>_<way> of one kernel, found {names or 'none'}")
    for needed in ("make_inputs", "reference"):
        if needed not in namespace:
            raise LessonError(f"no {needed}() defined: the cell tagged `setup` defines it")
    functions = {way: found[names[0], way] for way in WAYS if (names[0], way) in found}
    return Ways(names[0], namespace["make_inputs"], namespace["reference"], functions, missing, rtol)


def is_host(name: str) -> bool:
    """Whether a way by this name, which may have a file's name and a comma before it, runs on the CPU."""
    return name.rpartition(", ")[2] == "host"


def side_by_side(variants: Mapping[str, Ways]) -> Ways:
    """The ways of several kernels that do the same thing, each called `variant, way`; the first says what is right.

    Raises LessonError where they do not take the same arguments.
    """
    first, *others = variants
    kinds = {name: _kinds(ways) for name, ways in variants.items()}
    for name in others:
        if kinds[name] != kinds[first]:
            raise LessonError(f"{first} takes {', '.join(kinds[first])}, {name} {', '.join(kinds[name])}: no variants")
    functions = {f"{name}, {way}": run for name, ways in variants.items() for way, run in ways.functions.items()}
    missing = {f"{name}, {way}": why for name, ways in variants.items() for way, why in ways.missing.items()}
    return replace(variants[first], functions=functions, missing=missing)


def _kinds(ways: Ways) -> list[str]:
    inputs = ways.make_inputs(next((size for size in ways.sizes if size), 5))
    expected = ways.reference(*inputs)
    outputs = expected.values() if isinstance(expected, Mapping) else [expected]
    return [f"{value.dtype}{'[]' * isinstance(value, np.ndarray)}" for value in (*inputs, *outputs)]


def way_cell(lesson: Lesson, way: str) -> list[str]:
    """The sources of the cells tagged `way-<way>`. Raises LessonError, with the lesson's reason, if there is none."""
    if cells := lesson.cells(f"way-{way}"):
        return cells
    raise LessonError(f"{lesson.slug} has no way {way}: {lesson.meta.get('without', {}).get(way, 'no such cell')}")


def load(lesson: Lesson, ways: Collection[str] = ()) -> Ways:
    """Execute a lesson's `setup` cells and its `way-*` cells, of `ways` or all that can run here; return its functions.

    No other way is built. Raises LessonError where a way of `ways` has no cell, and, naming the cell, where one raises.
    """
    namespace: dict[str, Any] = {"__name__": f"lesson_{lesson.slug}"}
    for way in ways:
        way_cell(lesson, way)
    chosen = ways or [way for way in WAYS if not toolchain.missing(way)]
    for tag in ["setup", *(f"way-{way}" for way in chosen)]:
        for number, source in enumerate(lesson.cells(tag), 1):
            cell = f"{lesson.path.name}, cell {number} tagged {tag}"
            try:
                exec(compile(source, f"<{cell}>", "exec"), namespace)
            except Exception as error:
                raise LessonError(f"{cell}: {type(error).__name__}: {error}") from error
    return collect(namespace, rtol=lesson.rtol)
