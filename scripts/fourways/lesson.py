"""Read a lesson: its front matter, its cells by tag, and the ways it defines as plain functions.

A lesson is a MyST notebook, `lessons/NN_slug.md`. The code in its cells is the code that is timed, checked and
recorded: nothing here holds a second copy of a way.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from fourways import kernels, toolchain

WAYS = ("nvrtc", "nvcc", "pycuda", "pybind11", "host")
_WAY_FUNCTION = re.compile(rf"(\w+)_({'|'.join(WAYS)})")


class LessonError(ValueError):
    """A lesson that does not exist or does not have the agreed shape. The message says what to mend."""


@dataclass
class Ways:
    """The functions of one lesson that do the same thing in different ways.

    `make_inputs(size)` returns a tuple of NumPy arrays and scalars; `reference(*inputs)` returns the expected output,
    an array of the dtype that the kernel writes. Each of `functions`, keyed by way, takes `(*inputs, output)` and
    writes the output: CuPy arrays for a GPU way, NumPy arrays for `host`.
    `missing` holds, for every way that cannot run on this machine, one line with the remedy.
    """

    kernel: str
    make_inputs: Callable[[int], tuple]
    reference: Callable
    functions: dict[str, Callable[..., None]]
    missing: dict[str, str] = field(default_factory=dict)
    rtol: float = 0.0

    @property
    def runnable(self) -> dict[str, Callable[..., None]]:
        """The functions that can run on this machine, keyed by way."""
        return {way: function for way, function in self.functions.items() if way not in self.missing}


def collect(namespace: Mapping[str, Any], rtol: float = 0.0) -> Ways:
    """The ways defined so far, found by name (`<kernel>_<way>`): call it in a lesson as `collect(globals())`.

    `rtol` is the relative tolerance that checking allows; the default asks for the exact result.
    Raises LessonError where no way, or the ways of more than one kernel, or no `make_inputs`/`reference` are defined.
    """
    found = {match.groups(): namespace[name] for name in namespace if (match := _WAY_FUNCTION.fullmatch(name))}
    missing = {way: reason for way in WAYS if (reason := toolchain.missing(way))}
    names = {kernel for kernel, _ in found}
    if not names and missing:
        raise LessonError("no way is defined; " + "; ".join(f"{way}: {reason}" for way, reason in missing.items()))
    if len(names) != 1:
        raise LessonError(f"expected functions <kernel>_<way> of one kernel, found {sorted(names) or 'none'}")
    for needed in ("make_inputs", "reference"):
        if needed not in namespace:
            raise LessonError(f"no {needed}() defined: the cell tagged `setup` defines it")
    functions = {way: function for way in WAYS for (_, other), function in found.items() if way == other}
    return Ways(names.pop(), namespace["make_inputs"], namespace["reference"], functions, missing, rtol)


@dataclass(frozen=True)
class Lesson:
    """One lesson file, read once. Raises LessonError from its properties where the file is not of the agreed shape."""

    path: Path

    @property
    def slug(self) -> str:
        """`01_doublify`."""
        return self.path.stem

    @property
    def number(self) -> str:
        """`01`."""
        return self.slug.split("_")[0]

    @cached_property
    def notebook(self) -> Any:
        """The lesson as an nbformat notebook without outputs."""
        import jupytext  # slow to import, and only this needs them
        import yaml

        try:
            return jupytext.read(self.path)
        except (OSError, ValueError, yaml.YAMLError) as error:
            raise LessonError(f"{self.path.name} cannot be read: {error}") from None

    @property
    def meta(self) -> dict[str, Any]:
        """The front matter under `fourways:` (kernel, further kernels in `also`, ways, without, minutes, rtol)."""
        try:
            return self.notebook.metadata["fourways"]
        except KeyError:
            raise LessonError(f"{self.path.name}: the front matter has no `fourways:` section") from None

    @property
    def title(self) -> str:
        """The text of the first heading, without the lesson's number."""
        for cell in self.notebook.cells:
            if cell.cell_type == "markdown" and (
                match := re.search(r"^# (?:\d\d · )?(.+)$", cell.source, re.MULTILINE)
            ):
                return match[1]
        raise LessonError(f"{self.path.name}: no `# Title`")

    def cells(self, tag: str) -> list[str]:
        """The source of every code cell with this tag, in order."""
        return [cell.source for cell in self.notebook.cells if cell.cell_type == "code" and tag in tags(cell)]


def tags(cell: Any) -> list[str]:
    """The tags of a notebook cell."""
    return cell.metadata.get("tags", [])


def all_lessons() -> list[Lesson]:
    """Every lesson, in order of number."""
    return [Lesson(path) for path in sorted((kernels.root() / "lessons").glob("[0-9][0-9]_*.md"))]


def find(name: str) -> Lesson:
    """A lesson by number (`1`, `01`), slug (`01_doublify`), the slug's word (`doublify`) or path.

    Raises LessonError, naming the lessons there are.
    """
    lessons = all_lessons()
    wanted = Path(name).stem if name.endswith(".md") else name
    for lesson in lessons:
        if wanted.zfill(2) == lesson.number or wanted in (lesson.slug, lesson.slug.split("_", 1)[1]):
            return lesson
    raise LessonError(f"no lesson {name!r}; there are: {', '.join(lesson.slug for lesson in lessons) or 'none'}")


def kernel_file(name: str) -> Path:
    """The kernel file that a user means: a path to a `.cu` or `.cuh`, a kernel's name, or a lesson's number or name.

    Raises LessonError where it is none of them, or no text.
    """
    path = Path(name)
    if path.suffix in (".cu", ".cuh"):
        if not path.is_file():
            raise LessonError(f"no file {name}: give the path of a .cu or .cuh, or a lesson's number")
        try:
            path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise LessonError(
                f"{name} is no UTF-8 text ({error.reason} at byte {error.start}): save it as such"
            ) from None
        return path
    return kernels.path(name if name in kernels.names() else str(find(name).meta["kernel"]))


def load(lesson: Lesson, ways: Iterable[str] = ()) -> Ways:
    """Execute a lesson's `setup` cells and its `way-*` cells, of `ways` or all that can run here; return its functions.

    Raises LessonError, naming the cell, where one of them raises.
    """
    namespace: dict[str, Any] = {"__name__": f"lesson_{lesson.slug}"}
    chosen = list(ways) or [way for way in WAYS if not toolchain.missing(way)]
    for tag in ["setup", *(f"way-{way}" for way in chosen)]:
        for number, source in enumerate(lesson.cells(tag), 1):
            cell = f"{lesson.path.name}, cell {number} tagged {tag}"
            try:
                exec(compile(source, f"<{cell}>", "exec"), namespace)
            except Exception as error:
                raise LessonError(f"{cell}: {type(error).__name__}: {error}") from error
    return collect(namespace, rtol=float(lesson.meta.get("rtol", 0.0)))


def process_environment() -> dict[str, str]:
    """The variables for a fresh Python process that executes a lesson's cells: this package, clone and toolkit."""
    paths = [str(Path(__file__).parents[1]), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    variables = {"FOURWAYS_ROOT": str(kernels.root()), "PYTHONPATH": os.pathsep.join(map(os.path.abspath, paths))}
    return os.environ | toolchain.environment() | variables


def fingerprint(path: Path) -> dict[str, str]:
    """The SHA-256 of what a recorded run depends on: the lesson's code cells, its kernels and their bindings."""
    lesson = Lesson(path)
    cells = [(tags(cell), cell.source) for cell in lesson.notebook.cells if cell.cell_type == "code"]
    names = [str(lesson.meta["kernel"]), *lesson.meta.get("also", ())]
    aot = kernels.root() / "cpp" / "aot"
    sources = [file for name in names for file in (aot / f"{name}.cu", aot / f"{name}.hpp") if file.is_file()]
    headers = sorted(_included(sources) - {aot / "launch.hpp"})  # which lists all kernels
    return {
        "cells": _sha256(repr(cells).encode()),
        "kernel": _sha256(b"".join(kernels.path(name).read_bytes() for name in names)),
        "binding": _sha256(b"".join(file.read_bytes() for file in sources + headers)),
    }


def _included(files: Iterable[Path]) -> set[Path]:
    """The headers beside these files that they include, and those that the headers include."""
    found: set[Path] = set()
    for file in files:
        names = re.findall(r'^#include "([\w.]+)"', file.read_text(), re.MULTILINE)
        found |= {file.with_name(name) for name in names if file.with_name(name).is_file()}
    return found | _included(found) if found else found


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
