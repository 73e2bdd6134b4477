"""Lessons as Jupyter notebooks, for oneself or a class: without the solutions, or with them.

A lesson's text is MyST, which Jupyter shows only in part: pictures become plain Markdown with the files beside the
notebook, boxes become quotations, citations links, hints and answers fold as HTML does, a question gets a cell for a
guess, and drawings for the book's dark pages are left out. A link to a lesson leads to its notebook where the folder
has it, else to the lesson in the clone. Nor does Jupyter look at tags: a cell that needs a GPU or a way begins with
`%%needs`, says what is missing, and shows the output that the book has.
"""

import copy
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fourways import files, kernels
from fourways.lesson.folds import asked, deeper
from fourways.lesson.needs import MAGIC, needs
from fourways.lesson.notebook import Lesson, tags
from fourways.lesson.recorded import sections
from fourways.lesson.sources import cited, sources

_IMAGE = re.compile(r"^```\{image\} +\.\./book/(\S+)\n(.*?)^```\n?", re.DOTALL | re.MULTILINE)
_BOX = re.compile(r"^(:{3,}|`{3,})\{admonition\} ([^\n]*)\n(?::class: [^\n]*\n)?(.*?)^\1$", re.DOTALL | re.MULTILINE)
_FOLD = re.compile(r"^(:{3,})\{dropdown\} ([^\n]*)\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
_GUESS = "*Your guess, before you run the next cell:*"
_LINK = re.compile(r"\]\((?!https?:|#)([^)\s#]+)(?:#[^)\s]*)?\)")
_START = f"""\
# A cell that begins with {MAGIC} runs where this machine has what it names.
# Elsewhere it says what is missing, and shows the output that was recorded on a GPU.
# The book shows all recorded outputs: `fourways book` builds it, and this page is build/book/lessons/{{}}.html.
%load_ext fourways.lesson"""


class ExportError(RuntimeError):
    """What cannot be exported; the message says why, and nothing was written."""


def export(lessons: Iterable[Lesson], folder: Path, solutions: bool = False) -> list[Path]:
    """Write `NN_slug.ipynb` for every lesson into `folder`, and return these paths.

    Pictures and files of the book that a lesson shows or links go there, too. Without `solutions`, the cells tagged
    `solution` are left out. Raises ExportError, before it writes anything, if one of the notebooks is there already and
    differs: it may hold somebody's work.
    """
    import nbformat

    lessons, citable = list(lessons), sources()
    there = {each.slug for each in lessons} | {path.stem for path in folder.glob("*.ipynb")}
    contents: dict[Path, bytes] = {}
    for found in lessons:
        notebook, beside = _plain(found, citable, folder, there, solutions)
        contents |= {folder / name: (kernels.root() / "book" / name).read_bytes() for name in beside}
        contents[folder / f"{found.slug}.ipynb"] = (nbformat.writes(notebook) + "\n").encode()
    notebooks = [path for path in contents if path.suffix == ".ipynb"]
    kept = [path.name for path in notebooks if path.exists() and path.read_bytes() != contents[path]]
    if kept:
        raise ExportError(f"{folder} holds other versions of {', '.join(kept)}; name another folder, or move them away")
    for path, content in contents.items():
        files.write_bytes(path, content)
    return notebooks


def _plain(
    found: Lesson, citable: dict[str, str], folder: Path, there: set[str], solutions: bool
) -> tuple[Any, list[str]]:
    """The notebook of a lesson for Jupyter, and the names below `book/` of the files that it wants beside it.

    `there` are the slugs of the notebooks in its `folder`.
    """
    import nbformat

    notebook = copy.deepcopy(found.notebook)
    cells: list[Any] = []
    guessing = False
    marks = zip(notebook.cells, asked(notebook), deeper(notebook), sections(notebook), strict=True)
    for cell, answers, is_deeper, section in marks:
        if answers and not guessing:
            cells.append(nbformat.v4.new_markdown_cell(_GUESS))
        guessing = answers
        if is_deeper and re.match("#+ Deeper", cell.source):
            cell.metadata["jp-MarkdownHeadingCollapsed"] = True  # as JupyterLab notes it
        if "hide-input" in tags(cell):
            cell.metadata["jupyter"] = {"source_hidden": True}
        if wanted := needs(cell):
            cell.source = f"{MAGIC} {' '.join(wanted)}  # in the book: {found.slug}.html#{section}\n{cell.source}"
        if solutions or "solution" not in tags(cell):
            cells.append(cell)
    cells.insert(1, nbformat.v4.new_code_cell(_START.format(found.slug)))
    notebook.cells = cells
    beside: list[str] = []

    def picture(match: re.Match[str]) -> str:
        if "only-dark" in match[2]:
            return ""
        beside.append(match[1])
        words = re.search(r":alt: (.*)", match[2])
        return f"![{words[1] if words else ''}]({match[1]})\n"

    def link(match: re.Match[str]) -> str:
        target = (found.path.parent / match[1]).resolve()
        if target.suffix == ".md" and target.parent == found.path.parent.resolve() and target.stem in there:
            return f"]({target.stem}.ipynb)"
        if target.is_file() and target.is_relative_to(book := kernels.root() / "book"):
            beside.append(str(target.relative_to(book)))
            return f"]({beside[-1]})"
        return f"]({os.path.relpath(target, folder.resolve())})" if target.is_file() else match[0]

    def quote(match: re.Match[str]) -> str:
        return "\n".join(f"> {line}".rstrip() for line in [f"**{match[2]}**", "", *match[3].strip().splitlines()])

    def fold(match: re.Match[str]) -> str:
        return f"<details><summary>{match[2]}</summary>\n\n{match[3].strip()}\n\n</details>"

    for number, cell in enumerate(notebook.cells):
        cell.id = f"{found.slug}-{number}"  # the same bytes for the same lesson
        if cell.cell_type == "markdown":
            text = _FOLD.sub(fold, _BOX.sub(quote, _LINK.sub(link, _IMAGE.sub(picture, cell.source))))
            cell.source = cited(text, citable).replace("```cuda", "```c++")
    return notebook, beside
