"""What a user names, a lesson or a kernel of their own: both yield the same `Ways`, and the program of one way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fourways import kernels
from fourways.kernels import InputError, NotThereError, safe_name
from fourways.lesson.notebook import Lesson, all_lessons, find
from fourways.lesson.ways import load, way_cell
from fourways.ways import Ways
from fourways.ways import program as way_program

if TYPE_CHECKING:
    from fourways.own_kernel import Case

_SETUP = """from fourways import own_kernel

case = own_kernel.read({path!r}, {file!r})
make_inputs, reference = case.make_inputs, case.reference
"""


@dataclass(frozen=True)
class Target:
    """The kernel of a lesson, or a kernel with its `case`.

    `ways(chosen, tell)` builds the chosen ways, by default all that can run here, and returns them as `Ways`.
    `program(way, size, **more)` returns the text of a program that runs one way, as `program` does.
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
    lesson = _lesson_about(name)
    return Target(lesson.slug, partial(_lesson_ways, lesson), partial(program, lesson))


def _lesson_about(name: str) -> Lesson:
    """Return the lesson with this number, slug or kernel."""
    try:
        return find(name)
    except NotThereError:
        if name not in kernels.names():
            raise
    if about := [lesson for lesson in all_lessons() if lesson.meta["kernel"] == name]:
        return about[0]
    also = next((lesson for lesson in all_lessons() if name in lesson.meta.get("also", ())), None)
    calls = f"lesson {also.number} calls it: fourways run {also.number}; " if also else ""
    raise NotThereError(f"{name}: {calls}alone it needs a --case")


def _lesson_ways(lesson: Lesson, chosen: Sequence[str] = (), tell: Callable[[str], Any] = lambda _: None) -> Ways:
    return load(lesson, chosen).only(chosen or lesson.meta["ways"])


def program(lesson: Lesson, way: str, size: int, **more: Any) -> str:
    """Return the text of a program that runs one way of a lesson once, on arrays of `size` elements.

    It has the stages of `ways.program.text`, which takes `more`. Raises LessonError if the lesson has no such way.
    """
    setup, cell = "\n".join(lesson.cells("setup")), "\n".join(way_cell(lesson, way))
    return way_program.text(way, str(lesson.meta["kernel"]), setup, cell, size, lesson.rtol, **more)


def _case_program(case: Case, way: str, size: int, **more: Any) -> str:
    kernel, setup = safe_name(case.kernel), _SETUP.format(path=str(case.path), file=str(case.file))
    cell = f"{kernel}_{way} = case.function({way!r})\n"
    more |= {"atol": case.atol, "in_place": case.in_place}
    return way_program.text(way, kernel, setup, cell, size, case.rtol, **more)
