"""Lessons as Jupyter notebooks, for oneself or a class: without the solutions, or with them.

A lesson's text is MyST, which Jupyter shows only in part: pictures become plain Markdown with the files beside the
notebook, boxes become quotations, citations links, hints and answers fold as HTML does, a question gets a cell for a
guess, and drawings for the book's dark pages are left out. Nor does Jupyter look at tags: a cell that needs a GPU or a
way begins with `%%needs`, and says what is missing.
"""

import copy
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fourways import files, kernels
from fourways.lesson.folds import asked, deeper
from fourways.lesson.needs import MAGIC, needs
from fourways.lesson.notebook import Lesson, tags

_IMAGE = re.compile(r"^```\{image\} +\.\./book/(\S+)\n(.*?)^```\n?", re.DOTALL | re.MULTILINE)
_BOX = re.compile(r"^(:{3,}|`{3,})\{admonition\} ([^\n]*)\n(?::class: [^\n]*\n)?(.*?)^\1$", re.DOTALL | re.MULTILINE)
_FOLD = re.compile(r"^(:{3,})\{dropdown\} ([^\n]*)\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
_GUESS = "*Your guess, before you run the next cell:*"
_LINK = re.compile(r"\[([^\]]+)\]\(\.\./[^)]+\)")
_CITATION = re.compile(r"\{cite\}`([^`]+)`")
_SOURCE = re.compile(r"^@\w+\{([^,\s]+),(?:\n(?!@).*)*?\n\s*url\s*=\s*\{(.+?)\}", re.MULTILINE)


_START = f"""\
# A cell that begins with {MAGIC} runs where this machine has what it names; elsewhere it says what is missing.
%load_ext fourways.lesson"""


class ExportError(RuntimeError):
    """What cannot be exported; the message says why, and nothing was written."""


def export(lessons: Iterable[Lesson], folder: Path, solutions: bool = False) -> list[Path]:
    """Write `NN_slug.ipynb` for every lesson, and the pictures it shows, into `folder`; return the notebooks.

    Without `solutions`, the cells tagged `solution` are left out. Raises ExportError, before it writes anything, if one
    of the notebooks is there already and differs: it may hold somebody's work.
    """
    import nbformat

    sources = _sources()
    contents: dict[Path, bytes] = {}
    for found in lessons:
        notebook, pictures = _plain(found, sources, solutions)
        contents |= {folder / name: (kernels.root() / "book" / name).read_bytes() for name in pictures}
        contents[folder / f"{found.slug}.ipynb"] = (nbformat.writes(notebook) + "\n").encode()
    notebooks = [path for path in contents if path.suffix == ".ipynb"]
    kept = [path.name for path in notebooks if path.exists() and path.read_bytes() != contents[path]]
    if kept:
        raise ExportError(f"{folder} holds other versions of {', '.join(kept)}; name another folder, or move them away")
    for path, content in contents.items():
        files.write_bytes(path, content)
    return notebooks


def _plain(found: Lesson, sources: dict[str, str], solutions: bool) -> tuple[Any, list[str]]:
    """The notebook of a lesson for Jupyter, and the names of its pictures below `book/`."""
    import nbformat

    notebook = copy.deepcopy(found.notebook)
    cells: list[Any] = []
    guessing = False
    for cell, answers, is_deeper in zip(notebook.cells, asked(notebook), deeper(notebook), strict=True):
        if answers and not guessing:
            cells.append(nbformat.v4.new_markdown_cell(_GUESS))
        guessing = answers
        if is_deeper and re.match("#+ Deeper", cell.source):
            cell.metadata["jp-MarkdownHeadingCollapsed"] = True  # as JupyterLab notes it
        if "hide-input" in tags(cell):
            cell.metadata["jupyter"] = {"source_hidden": True}
        if solutions or "solution" not in tags(cell):
            cells.append(cell)
    cells.insert(1, nbformat.v4.new_code_cell(_START))
    notebook.cells = cells
    pictures: list[str] = []

    def picture(match: re.Match[str]) -> str:
        if "only-dark" in match[2]:
            return ""
        pictures.append(match[1])
        words = re.search(r":alt: (.*)", match[2])
        return f"![{words[1] if words else ''}]({match[1]})\n"

    def quote(match: re.Match[str]) -> str:
        return "\n".join(f"> {line}".rstrip() for line in [f"**{match[2]}**", "", *match[3].strip().splitlines()])

    def fold(match: re.Match[str]) -> str:
        return f"<details><summary>{match[2]}</summary>\n\n{match[3].strip()}\n\n</details>"

    for number, cell in enumerate(notebook.cells):
        cell.id = f"{found.slug}-{number}"  # the same bytes for the same lesson
        if cell.cell_type == "markdown":
            text = _LINK.sub(r"\1", _FOLD.sub(fold, _BOX.sub(quote, _IMAGE.sub(picture, cell.source))))
            text = _CITATION.sub(lambda match: ", ".join(sources.get(key, key) for key in match[1].split(",")), text)
            cell.source = text.replace("```cuda", "```c++")
        elif wanted := needs(cell):
            cell.source = f"{MAGIC} {' '.join(wanted)}\n{cell.source}"
    return notebook, pictures


def _sources() -> dict[str, str]:
    """The book's sources by key, each as a Markdown link."""
    text = (kernels.root() / "book" / "references.bib").read_text(encoding="utf-8")
    return {key: f"[[{key}]({url})]" for key, url in _SOURCE.findall(text)}
