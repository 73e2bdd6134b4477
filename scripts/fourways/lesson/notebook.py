"""A lesson as a file: its front matter, and its cells by tag."""

import re
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fourways import kernels


class LessonError(kernels.InputError):
    """A lesson that does not have the agreed shape. The message says what to mend."""


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
        """`01`; of a page without a number its slug."""
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
        """All that the file holds, as an nbformat notebook: with the cells tagged `wrong`, which only tests run."""
        import jupytext  # slow to import, and only this needs them
        import yaml

        try:
            return jupytext.read(self.path)
        except (OSError, ValueError, yaml.YAMLError) as error:
            raise LessonError(f"{self.path.name} cannot be read: {error}") from None

    @property
    def meta(self) -> dict[str, Any]:
        """The front matter under `fourways:` (kernel, further kernels in `also`, ways, without, rtol, may_skip)."""
        try:
            return self.whole.metadata["fourways"]
        except KeyError:
            raise LessonError(f"{self.path.name}: the front matter has no `fourways:` section") from None

    @property
    def rtol(self) -> float:
        """The relative tolerance that checking allows; 0 asks for the exact result."""
        return float(self.meta.get("rtol", 0.0))

    @property
    def title(self) -> str:
        """The text of the first heading, without the lesson's number."""
        for cell in self.notebook.cells:
            heading = re.search(r"^# (?:\d\d · )?(.+)$", cell.source, re.MULTILINE)
            if heading and cell.cell_type == "markdown":
                return heading[1]
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


def pages() -> list[Lesson]:
    """The book's other pages that run, and are recorded, as lessons are; they have no number, and may lack a kernel."""
    return [Lesson(path) for path in sorted((kernels.root() / "lessons").glob("[a-z]*_*.md"))]


def find(name: str) -> Lesson:
    """A lesson or page by number (`1`, `01`), slug (`01_doublify`), the slug's word (`doublify`) or path.

    Raises NotThereError, naming the lessons there are.
    """
    lessons = [*all_lessons(), *pages()]
    wanted = Path(name).stem if name.endswith(".md") else name
    for lesson in lessons:
        if wanted.zfill(2) == lesson.number or wanted in (lesson.slug, lesson.slug.split("_", 1)[1]):
            return lesson
    raise kernels.NotThereError(
        f"no lesson {name!r}; there are: {', '.join(lesson.slug for lesson in lessons) or 'none'}"
    )


def kernel_file(name: str) -> Path:
    """The kernel file that a user means: a path to a `.cu` or `.cuh`, a kernel's name, or a lesson's number or name.

    Raises InputError where it is none of them, or no text.
    """
    if not kernels.is_file(name):
        return kernels.path(name if name in kernels.names() else str(find(name).meta["kernel"]))
    return kernels.user_file(name)
