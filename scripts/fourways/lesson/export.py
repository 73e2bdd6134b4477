"""Lessons as Jupyter notebooks for yourself or a class, with or without the solutions.

A lesson is MyST, which Jupyter shows only in part. So pictures become plain Markdown, with their files beside the
notebook; boxes become quotations; citations become links; hints and answers become HTML folds. A question gets a cell
for your guess, and drawings for the book's dark pages are left out. A link to a lesson leads to its notebook if the
folder has it, else to the lesson in the clone.

A notebook for download stands alone: it holds its pictures.

Jupyter ignores tags, too. So a cell that needs a GPU or a way begins with `%%needs`: where something is missing, it
names that and shows the recorded output.

For a class that nbgrader grades, exercises carry its metadata, and each has its solution and a test behind it.
"""

import base64
import copy
import mimetypes
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fourways import files, kernels
from fourways.lesson.exercises import exercises
from fourways.lesson.folds import asked, deeper
from fourways.lesson.needs import MAGIC, needs
from fourways.lesson.notebook import Lesson, tags
from fourways.lesson.recorded import anchors
from fourways.lesson.sources import cited, sources

_IMAGE = re.compile(r"^```\{image\} +\.\./book/(\S+)\n(.*?)^```\n?", re.DOTALL | re.MULTILINE)
_BOX = re.compile(r"^(:{3,}|`{3,})\{admonition\} ([^\n]*)\n(?::class: [^\n]*\n)?(.*?)^\1$", re.DOTALL | re.MULTILINE)
_FOLD = re.compile(r"^(:{3,})\{dropdown\} ([^\n]*)\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
_GUESS = "*Your guess, before you run the next cell:*"
_LINK = re.compile(r"\]\((?!https?:|#)([^)\s#]+)(?:#[^)\s]*)?\)")
_START = f"""\
# Run this notebook with the Python of a clone of Four Ways.
# A cell that begins with {MAGIC} runs where this machine has what it names.
# Elsewhere it says what is missing, and shows the output that was recorded on a GPU.
# The book shows all recorded outputs: `fourways book` builds it, and this page is build/book/lessons/{{}}.html.
%load_ext fourways.lesson"""


class ExportError(RuntimeError):
    """An export that was refused; the message says why. Nothing was written."""


def export(lessons: Iterable[Lesson], folder: Path, solutions: bool = False, graded: bool = False) -> list[Path]:
    """Write `NN_slug.ipynb` for every lesson into `folder`, and return these paths.

    Pictures and files of the book that a lesson shows or links are copied, too. Without `solutions`, the cells tagged
    `solution` are left out. Raises ExportError, before it writes anything, if the folder holds a different notebook of
    that name: it may be somebody's work.

    `graded` makes sources for nbgrader. Each exercise is worth a point, and a test follows it. The solution stands in
    the exercise's cell, between the marks at which `nbgrader generate_assignment` cuts it out.
    """
    import nbformat

    lessons, citable = list(lessons), sources()
    there = {each.slug for each in lessons} | {path.stem for path in folder.glob("*.ipynb")}
    contents: dict[Path, bytes] = {}
    for lesson in lessons:
        notebook, beside = _plain(lesson, citable, folder, there, solutions and not graded)
        if graded:
            _grade(notebook, lesson)
        contents |= {folder / name: (kernels.root() / "book" / name).read_bytes() for name in beside}
        contents[folder / f"{lesson.slug}.ipynb"] = (nbformat.writes(notebook) + "\n").encode()
    notebooks = [path for path in contents if path.suffix == ".ipynb"]
    kept = [path.name for path in notebooks if path.exists() and path.read_bytes() != contents[path]]
    if kept:
        raise ExportError(f"{folder} holds other versions of {', '.join(kept)}; name another folder, or move them away")
    for path, content in contents.items():
        files.write_bytes(path, content)
    return notebooks


def alone(lesson: Lesson) -> Any:
    """Return a lesson as a notebook that stands alone, for download, without the solutions."""
    return _plain(lesson, sources(), None, set(), False)[0]


def _plain(
    lesson: Lesson, citable: dict[str, str], folder: Path | None, there: set[str], solutions: bool
) -> tuple[Any, list[str]]:
    """Return a lesson as a notebook for Jupyter, and the names below `book/` of the files that belong beside it.

    `there` are the slugs of the notebooks in its `folder`. Without a folder, the notebook stands alone.
    """
    import nbformat

    notebook, rewritten = copy.deepcopy(lesson.notebook), _Links(lesson, folder, there)
    cells: list[Any] = []
    guessing = False
    marks = zip(notebook.cells, asked(notebook), deeper(notebook), anchors(notebook), strict=True)
    for cell, answers, is_deeper, section in marks:
        if answers and not guessing:
            cells.append(nbformat.v4.new_markdown_cell(_GUESS))
        guessing = answers
        if is_deeper and re.match("#+ Deeper", cell.source):
            cell.metadata["jp-MarkdownHeadingCollapsed"] = True  # as JupyterLab notes it
        if "hide-input" in tags(cell):
            cell.metadata["jupyter"] = {"source_hidden": True}
        if wanted := needs(cell):
            cell.source = f"{MAGIC} {' '.join(wanted)}  # in the book: {lesson.slug}.html#{section}\n{cell.source}"
        if solutions or "solution" not in tags(cell):
            cells.append(cell)
    cells.insert(1, nbformat.v4.new_code_cell(_START.format(lesson.slug)))
    notebook.cells = cells
    for number, cell in enumerate(notebook.cells):
        cell.id = f"{lesson.slug}-{number}"  # the same bytes for the same lesson
        if cell.cell_type == "markdown":
            text = _FOLD.sub(
                _fold, _BOX.sub(_quote, _LINK.sub(rewritten.link, _IMAGE.sub(rewritten.picture, cell.source)))
            )
            cell.source = cited(text, citable).replace("```cuda", "```c++")
    return notebook, rewritten.beside


class _Links:
    """The pictures and links of a notebook in `folder`; `beside` collects the files of the book that it needs there."""

    def __init__(self, lesson: Lesson, folder: Path | None, there: set[str]) -> None:
        self.lesson, self.folder, self.there = lesson, folder, there
        self.beside: list[str] = []

    def picture(self, match: re.Match[str]) -> str:
        if "only-dark" in match[2]:
            return ""
        where = match[1]
        if self.folder is None:
            content = base64.b64encode((kernels.root() / "book" / where).read_bytes()).decode()
            where = f"data:{mimetypes.guess_type(where)[0]};base64,{content}"
        else:
            self.beside.append(where)
        words = re.search(r":alt: (.*)", match[2])
        return f"![{words[1] if words else ''}]({where})\n"

    def link(self, match: re.Match[str]) -> str:
        if self.folder is None:
            return match[0]
        lessons = self.lesson.path.parent.resolve()
        target, book = (lessons / match[1]).resolve(), kernels.root() / "book"
        if target.suffix == ".md" and target.parent == lessons and target.stem in self.there:
            return f"]({target.stem}.ipynb)"
        if target.is_file() and target.is_relative_to(book):
            self.beside.append(str(target.relative_to(book)))
            return f"]({self.beside[-1]})"
        return f"]({os.path.relpath(target, self.folder.resolve())})" if target.is_file() else match[0]


def _quote(match: re.Match[str]) -> str:
    return "\n".join(f"> {line}".rstrip() for line in [f"**{match[2]}**", "", *match[3].strip().splitlines()])


def _fold(match: re.Match[str]) -> str:
    return f"<details><summary>{match[2]}</summary>\n\n{match[3].strip()}\n\n</details>"


def _grade(notebook: Any, lesson: Lesson) -> None:
    """Give each exercise of an exported notebook its solution, nbgrader's metadata, and a test.

    nbgrader's schema: https://nbgrader.readthedocs.io/en/stable/contributor_guide/metadata.html
    """
    import nbformat

    cells: list[Any] = []
    numbered = enumerate(exercises(lesson), 1)
    for cell in notebook.cells:
        cells.append(cell)
        if "exercise" in tags(cell):
            number, exercise = next(numbered)
            answer = f"### BEGIN SOLUTION\n{exercise.solution}\n### END SOLUTION"
            whole = f"{exercise.given}\n\n{answer}\n\n{exercise.judge}"
            cell.id = f"{lesson.slug}-exercise-{number}"
            cell.source = cell.source.removesuffix(exercise.stub) + whole
            cell.metadata["nbgrader"] = _nbgrader(cell.id, solution=True)
            test = nbformat.v4.new_code_cell(exercise.test, id=f"{cell.id}-test")
            test.metadata["nbgrader"] = _nbgrader(test.id, grade=True, locked=True, points=1)
            cells.append(test)
    notebook.cells = cells


def _nbgrader(cell: str, **given: bool | int) -> dict[str, Any]:
    """Return nbgrader's metadata of the cell with this id, by version 3 of its schema."""
    flags = dict.fromkeys(("grade", "solution", "locked", "task"), False)
    return {"schema_version": 3, "grade_id": cell, **flags, **given}
