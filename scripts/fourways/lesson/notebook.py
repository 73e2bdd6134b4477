"""A lesson as a file: its front matter, and its cells by tag."""

import re
from collections.abc import Callable
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml

from fourways import kernels


class LessonError(kernels.InputError):
    """A lesson of the wrong shape. The message says what to change."""


@dataclass(frozen=True)
class Lesson:
    """A lesson file, read once. Its properties raise LessonError if the file has the wrong shape."""

    path: Path

    @property
    def slug(self) -> str:
        """The file's name without its ending: `01_doublify`."""
        return self.path.stem

    @property
    def number(self) -> str:
        """The lesson's number, `01`; the slug of a page without a number."""
        number = self.slug.split("_")[0]
        return number if number.isdigit() else self.slug

    @cached_property
    def notebook(self) -> Any:
        """The lesson as an nbformat notebook without outputs, and without the wrong answers to its exercises."""
        notebook = copy(self.whole)
        notebook.cells = [cell for cell in self.whole.cells if "wrong" not in tags(cell)]
        return notebook

    @cached_property
    def whole(self) -> Any:
        """The whole file as an nbformat notebook, with the cells tagged `wrong`, which only tests run."""
        return deepcopy(self._read(_parsed))

    @cached_property
    def meta(self) -> dict[str, Any]:
        """The front matter under `fourways:`: question, minutes (of its core) and `deeper` (of the folded sections),
        kernel, further kernels `also`, ways, without, rtol, may_skip, and `search`: words that lead to the page."""
        front = self._read(_front_matter)
        section = front.get("fourways") if isinstance(front, dict) else None
        if not isinstance(section, dict):
            raise LessonError(f"{self.path.name}: the front matter has no `fourways:` section")
        return section

    def _read(self, parse: Callable[[str], Any]) -> Any:
        try:
            return parse(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError, yaml.YAMLError) as error:
            raise LessonError(f"{self.path.name} cannot be read: {error}") from None

    @property
    def rtol(self) -> float:
        """The relative tolerance of checks; 0 asks for the exact result."""
        return float(self.meta.get("rtol", 0.0))

    @property
    def title(self) -> str:
        """The text of the first heading, without the lesson's number."""
        text = self._read(lambda text: re.sub(r"^(`{3,}|:{3,}).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE))
        if heading := re.search(r"^# (?:\d\d · )?(.+)$", text, re.MULTILINE):
            return heading[1]
        raise LessonError(f"{self.path.name}: no `# Title`")

    @property
    def minutes(self) -> str:
        """The minutes that a reader needs: `45`, or `45 + 20` if sections go deeper."""
        return " + ".join(str(self.meta[part]) for part in ("minutes", "deeper") if part in self.meta)

    @property
    def kernels(self) -> list[str]:
        """The names of its kernels: its own, if it has one, and the further ones."""
        own = [self.meta["kernel"]] if "kernel" in self.meta else []
        return [*own, *self.meta.get("also", ())]

    def cells(self, tag: str) -> list[str]:
        """Return the source of every code cell with this tag, in order."""
        return [cell.source for cell in self.notebook.cells if cell.cell_type == "code" and tag in tags(cell)]


def _front_matter(text: str) -> Any:
    """Return the YAML at the head of a lesson; to parse the cells as well takes much longer."""
    found = re.match(r"---\s*\n(.*?)^---\s*$", text, re.DOTALL | re.MULTILINE)
    return yaml.safe_load(found[1]) if found else {}


@cache  # the book asks each lesson about all others
def _parsed(text: str) -> Any:
    import jupytext  # slow to import, and needed only here

    return jupytext.reads(text, fmt="md")


def tags(cell: Any) -> list[str]:
    """Return the tags of a notebook cell."""
    return cell.metadata.get("tags", [])


def all_lessons() -> list[Lesson]:
    """Return all lessons in the order of their numbers."""
    return [Lesson(path) for path in sorted((kernels.root() / "lessons").glob("[0-9][0-9]_*.md"))]


def lessons_and_pages() -> list[Lesson]:
    """Return all lessons, then the other pages that run; these have no number, and may lack a kernel."""
    return [*all_lessons(), *map(Lesson, sorted((kernels.root() / "lessons").glob("[a-z]*.md")))]


def find(name: str) -> Lesson:
    """Return a lesson or page by number (`1`, `01`), slug (`01_doublify`), the slug's word (`doublify`) or path.

    A kernel's name means the first lesson that is about it. Raises NotThereError, which lists the lessons.
    """
    lessons = lessons_and_pages()
    wanted = Path(name).stem if name.endswith(".md") else name
    for lesson in lessons:
        if wanted.zfill(2) == lesson.number or wanted in (lesson.slug, lesson.slug.partition("_")[2] or lesson.slug):
            return lesson
    for lesson in all_lessons() if name in kernels.names() else ():
        if lesson.meta["kernel"] == name:
            return lesson
    raise kernels.NotThereError(
        f"no lesson {name!r}; there are: {', '.join(lesson.slug for lesson in lessons) or 'none'}"
    )


def kernel_file(name: str) -> Path:
    """Return the kernel file that `name` means: a `.cu` or `.cuh` path, a kernel's name, or a lesson's number or name.

    Raises InputError if it is none of them, LessonError for a page without a kernel.
    """
    if kernels.is_file(name):
        return kernels.user_file(name)
    if name in kernels.names():
        return kernels.path(name)
    if not (kernel := find(name).meta.get("kernel")):
        raise LessonError(f"{find(name).slug} has no kernel of its own")
    return kernels.path(kernel)
