"""What a user names, a lesson or a kernel of their own: its ways as functions, and a program to profile one way."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fourways import kernels, ways
from fourways.kernels import InputError
from fourways.lesson.notebook import Lesson, LessonError, find
from fourways.ways import WAYS, Ways

if TYPE_CHECKING:
    from fourways.own_kernel import Case

_PROGRAM = """import cupy
from cupyx.profiler import profile

from fourways import checking

plain_module = cupy.RawModule
cupy.RawModule = lambda *code, options=(), **more: plain_module(*code, options=(*options, "-lineinfo"), **more)

{setup}

way_inputs = make_inputs({size})
right = reference(*way_inputs)
fresh = checking.fresh_outputs(way_inputs, right, {in_place})
way_arguments = [checking.place("gpu", each) for each in (*way_inputs, *fresh)]

{cell}

{call}  # the first call may compile
way_outputs = [checking.fetch(each) for each in way_arguments[len(way_inputs) :]]
if problem := checking.compare_all(way_outputs, right, {rtol}, {atol}):
    raise SystemExit(problem)
with profile():
    {call}
    cupy.cuda.Device().synchronize()
"""
_SETUP = """from fourways import own_kernel

case = own_kernel.read({path!r}, {file!r})
make_inputs, reference = case.make_inputs, case.reference
"""


@dataclass(frozen=True)
class Target:
    """The kernel of a lesson, or a kernel with its `case`.

    `ways(chosen, tell)` builds the chosen ways, by default all that can run here, and returns them as `Ways`.
    `program(way, size)` returns the text of a program that runs one way, as `program` does.
    """

    name: str
    ways: Callable[..., Ways] = field(compare=False)
    program: Callable[..., str] = field(compare=False)
    case: Case | None = None


def target(name: str, case: Path | str | None = None, timeout: int = 60) -> Target:
    """Return the lesson that `name` means, or with the file `case` the kernel in the file, or in `cpp/kernels`.

    A lesson is named by its number, its slug or its kernel. Raises NotThereError for an unknown name, InputError for a
    file without a case, and as `own_kernel.read` does.
    """
    if case:
        if not kernels.is_file(name) and name not in kernels.names():
            raise InputError(f"{name}: a case goes with a .cu or .cuh file, or with a kernel of cpp/kernels")
        from fourways import own_kernel  # slow to import: NumPy

        own = own_kernel.read(name if kernels.is_file(name) else kernels.path(name), case, timeout)
        return Target(own.path.name, own.ways, partial(_case_program, own), own)
    if kernels.is_file(name):
        kernels.user_file(name)
        raise InputError(f"{name}: a kernel of your own needs a --case; `fourways check --help` shows one")
    lesson = find(name)
    return Target(lesson.slug, partial(_lesson_ways, lesson), partial(program, lesson))


def _lesson_ways(lesson: Lesson, chosen: Sequence[str] = (), tell: Callable[[str], Any] = lambda _: None) -> Ways:
    return load(lesson, chosen).only(chosen or lesson.meta["ways"])


def program(lesson: Lesson, way: str, size: int) -> str:
    """Return the text of a program for `fourways profile`: it runs one way of a lesson on arrays of `size` elements.

    The first call is checked, the second stands between `cudaProfilerStart` and `cudaProfilerStop`. CuPy compiles with
    source lines. Raises LessonError if the lesson has no such way.
    """
    setup, cell = "\n".join(lesson.cells("setup")), "\n".join(way_cell(lesson, way))
    call = f"{lesson.meta['kernel']}_{way}(*way_arguments)"
    return _PROGRAM.format(setup=setup, cell=cell, call=call, size=size, in_place={}, rtol=lesson.rtol, atol=0.0)


def _case_program(case: Case, way: str, size: int) -> str:
    setup = _SETUP.format(path=str(case.path), file=str(case.file))
    more = {"in_place": case.in_place, "rtol": case.rtol, "atol": case.atol}
    cell = f"own_kernel = case.function({way!r})"
    return _PROGRAM.format(setup=setup, cell=cell, call="own_kernel(*way_arguments)", size=size, **more)


def collect(namespace: Mapping[str, Any], rtol: float = 0.0) -> Ways:
    """Return the ways defined in `namespace`, by their names `<kernel>_<way>`: `collect(globals())` in a lesson.

    `rtol` is the relative tolerance of checks; 0 asks for the exact result. Raises LessonError if there is no way, if
    the ways belong to several kernels, or if `make_inputs` or `reference` is missing.
    """
    way_function = re.compile(rf"(\w+)_({'|'.join(WAYS)})")
    by_name = {match.groups(): namespace[name] for name in namespace if (match := way_function.fullmatch(name))}
    missing = {way: reason for way in WAYS if (reason := ways.missing(way))}
    names = sorted({kernel for kernel, _ in by_name})
    if not names and missing:
        raise LessonError("no way is defined; " + "; ".join(f"{way}: {reason}" for way, reason in missing.items()))
    if len(names) != 1:
        raise LessonError(f"expected functions <kernel>_<way> of one kernel, found {names or 'none'}")
    for needed in ("make_inputs", "reference"):
        if needed not in namespace:
            raise LessonError(f"no {needed}() defined: the cell tagged `setup` defines it")
    functions = {way: by_name[names[0], way] for way in WAYS if (names[0], way) in by_name}
    return Ways(names[0], namespace["make_inputs"], namespace["reference"], functions, missing, rtol)


def way_cell(lesson: Lesson, way: str) -> list[str]:
    """Return the sources of the cells tagged `way-<way>`. Raises LessonError, with the lesson's reason, without one."""
    if cells := lesson.cells(f"way-{way}"):
        return cells
    raise LessonError(f"{lesson.slug} has no way {way}: {lesson.meta.get('without', {}).get(way, 'no such cell')}")


def load(lesson: Lesson, chosen: Collection[str] = ()) -> Ways:
    """Execute a lesson's `setup` cells and the `way-*` cells of the `chosen` ways, and return their functions.

    The default is all ways that can run here. No other way is built. Raises LessonError if a chosen way has no cell,
    or if a cell raises; the message names the cell.
    """
    namespace: dict[str, Any] = {"__name__": f"lesson_{lesson.slug}"}
    for way in chosen:
        way_cell(lesson, way)
    chosen = chosen or [way for way in WAYS if not ways.missing(way)]
    for tag in ["setup", *(f"way-{way}" for way in chosen)]:
        for number, source in enumerate(lesson.cells(tag), 1):
            cell = f"{lesson.path.name}, cell {number} tagged {tag}"
            try:
                exec(compile(source, f"<{cell}>", "exec"), namespace)
            except Exception as error:
                raise LessonError(f"{cell}: {type(error).__name__}: {error}") from error
    return collect(namespace, rtol=lesson.rtol)
