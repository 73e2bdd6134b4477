"""Lessons as Jupyter notebooks for yourself or a class, with or without the solutions.

A lesson is MyST, which Jupyter shows only in part. So pictures become a part of the notebook; boxes become quotations;
citations become links; hints and answers become HTML folds. Drawings for the book's dark pages are left out. A link to
a lesson leads to its notebook if the folder has it, and any other link to the file in the clone.

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
from urllib.parse import urljoin

from fourways import files, kernels
from fourways.lesson.exercises import exercises
from fourways.lesson.needs import MAGIC, needs
from fourways.lesson.notebook import Lesson, tags
from fourways.lesson.shown import deeper, with_files

_IMAGE = re.compile(r"^```\{image\} +\.\./book/(\S+)\n(.*?)^```\n?", re.DOTALL | re.MULTILINE)
_BOX = re.compile(r"^(:{3,}|`{3,})\{admonition\} ([^\n]*)\n(?::class: [^\n]*\n)?(.*?)^\1$", re.DOTALL | re.MULTILINE)
_FOLD = re.compile(r"^(:{3,})\{dropdown\} ([^\n]*)\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
_CITATION = re.compile(r"\{cite\}`([^`]+)`")
_LINK = re.compile(r"\]\((?!https?:|data:|#)([^)\s#]+)(?:#[^)\s]*)?\)")
_START = f"""\
# Run this notebook with the Python of a clone of Four Ways.
# A cell that begins with {MAGIC} runs where this machine has what it names.
# Elsewhere it says what is missing, and shows the output that was recorded on a GPU.
# The book shows all recorded outputs: `fourways book` builds it, and this page is build/book/lessons/{{}}.html.
%load_ext fourways.lesson"""
_FIRST = 1
"""The place of the cell `_START`, behind the title."""


def export(lessons: Iterable[Lesson], folder: Path, solutions: bool = False, graded: bool = False) -> list[Path]:
    """Write `NN_slug.ipynb` for every lesson into `folder`, and return these paths.

    Without `solutions`, the cells tagged `solution` are left out. Raises RuntimeError, and writes nothing, if the
    folder holds a different notebook of that name: it may be somebody's work.

    `graded` makes sources for nbgrader. Each exercise is worth a point, and a test follows it. The solution stands in
    the exercise's cell, between the marks at which `nbgrader generate_assignment` cuts it out. The cells that exercises
    need are locked.
    """
    import nbformat

    lessons = list(lessons)
    there = {each.slug for each in lessons} | {path.stem for path in folder.glob("*.ipynb")}
    texts: dict[Path, str] = {}
    for lesson in lessons:
        notebook = alone(lesson, solutions and not graded)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = _LINK.sub(lambda match: f"]({_target(match[1], folder, there)})", cell.source)
        if graded:
            _grade(notebook, lesson)
        texts[folder / f"{lesson.slug}.ipynb"] = nbformat.writes(notebook) + "\n"
    kept = [path.name for path, text in texts.items() if path.exists() and path.read_text("utf-8") != text]
    if kept:
        raise RuntimeError(
            f"{folder} holds other versions of {', '.join(kept)}; name another folder, or move them away"
        )
    for path, text in texts.items():
        files.write_text(path, text)
    return list(texts)


def alone(lesson: Lesson, solutions: bool = False) -> Any:
    """Return a lesson as a notebook for Jupyter, with or without the solutions. Its links are those of the lesson."""
    import nbformat

    notebook, addresses = copy.deepcopy(lesson.notebook), _addresses()
    cells: list[Any] = []
    for cell, is_deeper in zip(notebook.cells, deeper(notebook), strict=True):
        if is_deeper and re.match("#+ Deeper", cell.source):
            cell.metadata["jp-MarkdownHeadingCollapsed"] = True  # as JupyterLab notes it
        if "hide-input" in tags(cell):
            cell.metadata["jupyter"] = {"source_hidden": True}
        if wanted := needs(cell):
            cell.source = f"{MAGIC} {' '.join(wanted)}  # recorded in {lesson.slug}\n{cell.source}"
        if solutions or "solution" not in tags(cell):
            cells.append(cell)
    cells.insert(_FIRST, nbformat.v4.new_code_cell(_START.format(lesson.slug)))
    notebook.cells = cells
    for number, cell in enumerate(notebook.cells):
        cell.id = f"{lesson.slug}-{number}"  # the same bytes for the same lesson
        if cell.cell_type == "markdown":
            text = _FOLD.sub(_fold, _BOX.sub(_quote, _IMAGE.sub(_picture, with_files(lesson, cell.source))))
            cell.source = _CITATION.sub(lambda match: _cited(match[1], addresses), text).replace("```cuda", "```c++")
    return notebook


def _target(link: str, folder: Path, there: set[str]) -> str:
    """Return what a lesson's link to a file becomes in `folder`, which has notebooks of the slugs `there`."""
    lessons = (kernels.root() / "lessons").resolve()
    target = (lessons / link).resolve()
    if target.suffix == ".md" and target.parent == lessons and target.stem in there:
        return f"{target.stem}.ipynb"
    return os.path.relpath(target, folder.resolve()) if target.is_file() else link


def _picture(match: re.Match[str]) -> str:
    """Return an image directive as an image that holds the file's content; "" for a drawing of the dark pages."""
    if "only-dark" in match[2]:
        return ""
    kind, _ = mimetypes.guess_type(match[1])
    content = base64.b64encode((kernels.root() / "book" / match[1]).read_bytes()).decode()
    words = re.search(r":alt: (.*)", match[2])
    return f"![{words[1] if words else ''}](data:{kind};base64,{content})\n"


def _addresses() -> dict[str, str]:
    text = (kernels.root() / "book" / "references.bib").read_text(encoding="utf-8")
    entries = re.findall(r"^@\w+\{([^,]+),.*?\b(?:url|doi) = \{([^}]+)\}", text, re.DOTALL | re.MULTILINE)
    return {key: urljoin("https://doi.org/", url_or_doi) for key, url_or_doi in entries}


def _cited(keys: str, addresses: dict[str, str]) -> str:
    """Return a citation as links in parentheses: `([nvrtc](https://...); [cub](https://...))`."""
    return f"({'; '.join(f'[{key}]({addresses[key]})' for key in keys.replace(' ', '').split(','))})"


def _quote(match: re.Match[str]) -> str:
    return "\n".join(f"> {line}".rstrip() for line in [f"**{match[2]}**", "", *match[3].strip().splitlines()])


def _fold(match: re.Match[str]) -> str:
    return f"<details><summary>{match[2]}</summary>\n\n{match[3].strip()}\n\n</details>"


def _grade(notebook: Any, lesson: Lesson) -> None:
    """Give each exercise of an exported notebook its solution, nbgrader's metadata, and a test.

    The cells that exercises need are locked tests of no points: nbgrader brings back their text, and adds them again if
    a learner has deleted them. An exercise does without `%%needs`, which has to stay a cell's first line.

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
            cell.id = f"{lesson.slug}-exercise-{number}"
            cell.source = f"{exercise.given}\n\n{answer}\n\n{exercise.judge}"
            cell.metadata["nbgrader"] = _nbgrader(cell.id, solution=True)
            test = nbformat.v4.new_code_cell(exercise.test, id=f"{cell.id}-test")
            test.metadata["nbgrader"] = _nbgrader(test.id, grade=True, locked=True, points=1)
            cells.append(test)
        elif cell is notebook.cells[_FIRST] or {"setup", "prepares"} & set(tags(cell)):
            cell.metadata["nbgrader"] = _nbgrader(cell.id, grade=True, locked=True, points=0)
    notebook.cells = cells


def _nbgrader(cell: str, **given: bool | int) -> dict[str, Any]:
    flags = dict.fromkeys(("grade", "solution", "locked", "task"), False)
    return {"schema_version": 3, "grade_id": cell, **flags, **given}
