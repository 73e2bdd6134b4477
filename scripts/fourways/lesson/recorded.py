"""Recorded notebooks: what they depend on, their outputs and rows, and a cell's section in the book."""

import hashlib
import os
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fourways import kernels, tables
from fourways.lesson.notebook import Lesson, tags

BOOK = "FOURWAYS_BOOK"
"""The variable with the book's address at the notebook's server, if that server shows the book."""


def anchors(notebook: Any) -> list[str]:
    """Return for each cell of a lesson's notebook the anchor of its section on the book's page."""
    anchor, by_cell = "", []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text = re.sub(r"^(`{3,}|:{3,}).*?^\1$", "", cell.source, flags=re.DOTALL | re.MULTILINE)
            for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
                anchor = as_anchor(heading)
        by_cell.append(anchor)
    return by_cell


def as_anchor(heading: str) -> str:
    """Return the anchor of a heading on the book's pages, by docutils' rule."""
    letters = unicodedata.normalize("NFKD", heading.lower()).encode("ascii", "ignore").decode()
    return re.sub("^[-0-9]+|-+$", "", re.sub("[^a-z0-9]+", "-", " ".join(letters.split())))


def outputs(lesson: Lesson) -> list[list[Any]]:
    """Return for each cell of a lesson's notebook the recorded outputs of a cell with the same code.

    The list of a cell is empty if the cell is prose, printed nothing, changed since, or was never recorded.
    """
    recording = _recording(lesson.slug)
    cells = recording.cells if recording else ()
    by_code = {cell.source.strip(): cell.outputs for cell in cells if cell.cell_type == "code"}
    return [by_code.get(cell.source.strip(), []) if cell.cell_type == "code" else [] for cell in lesson.notebook.cells]


def rows(recording: Path) -> dict[str, list[tables.Row]]:
    """Return the rows of all tables in a recorded notebook, by the table's name."""
    import nbformat

    outputs = [output for cell in nbformat.read(recording, 4).cells for output in cell.get("outputs", ())]
    bundles = [output.data[tables.MIME] for output in outputs if tables.MIME in output.get("data", {})]
    return {bundle["table"]: bundle["rows"] for bundle in bundles}


def fingerprint(lesson: Lesson) -> dict[str, str]:
    """Return the SHA-256 of all that a recorded run depends on: the lesson's code cells, its kernels, their bindings.

    For a page without a kernel, the binding consists of the headers that every package carries.
    """
    cells = [(tags(cell), cell.source) for cell in lesson.notebook.cells if cell.cell_type == "code"]
    aot = kernels.root() / "cpp" / "aot"
    files_of = [aot / f"{name}.{end}" for name in lesson.kernels for end in ("cu", "cpp")]
    bindings = _with_headers(files_of or [aot / "gpu_array.cpp", aot.parent / "package" / "launch_arguments.hpp"])
    return {
        "cells": digest([repr(cells).encode()]),
        "kernel": digest(kernels.path(name).read_bytes() for name in lesson.kernels),
        "binding": digest(file.read_bytes() for file in bindings),
    }


def _with_headers(sources: Iterable[Path]) -> list[Path]:
    """Return the files that exist, the headers beside them that they include, and those headers' .cpp files."""
    collected = [file for file in sources if file.is_file()]
    for file in collected:  # grows
        for name in re.findall(r'^#include "([\w.]+)"', file.read_text(encoding="utf-8"), re.MULTILINE):
            if (header := file.with_name(name)).is_file():
                both = (header, header.with_suffix(".cpp"))
                collected += [each for each in both if each.is_file() and each not in collected]
    return collected


def digest(contents: Iterable[bytes]) -> str:
    """Return the SHA-256 of the contents, joined."""
    return hashlib.sha256(b"".join(contents)).hexdigest()


def _recording(slug: str) -> Any:
    """Return the recorded notebook of lesson `slug`, or None."""
    import nbformat

    path = kernels.root() / "book" / "recorded" / f"{slug}.ipynb"
    return nbformat.read(path, 4) if path.is_file() else None


def show(slug: str, anchor: str, code: str) -> None:
    """Show in a notebook the recorded outputs of the cell of lesson `slug` with this `code`, and a link to its section.

    Shows nothing if the lesson was not recorded, or the cell was skipped or had no output.
    """
    from IPython.display import display

    notebook = _recording(slug)
    if not notebook:
        return
    cells = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip() == code.strip()]
    outputs = cells[0].outputs if cells else []
    if cells and (not outputs or outputs[0].get("text", "").startswith("Skipped: ")):  # in the recorded run, too
        return
    stamp = notebook.metadata["fourways"]["stamp"]
    where = f"{stamp['device'] or 'a machine without a GPU'}, {stamp['date'][:10]}"
    said = f"Recorded on {where}" if outputs else f"This cell has changed since it was recorded on {where}"
    display(_linked(said, slug, anchor), raw=True)
    for output in outputs:
        if "data" in output:
            data = {kind: content for kind, content in output.data.items() if kind != tables.MIME}
            display(data, metadata=output.metadata, raw=True)
        elif "text" in output:
            print(output.text, end="")


def _linked(said: str, slug: str, anchor: str) -> dict[str, str]:
    """Return a line that ends with a link to a section of the book, or if no book is built, with the remedy."""
    book = kernels.root() / "build" / "book"
    name = f"lessons/{slug}.html"
    path = f"{os.path.relpath(book, Path.cwd())}/{name}#{anchor}"
    if not (book / name).is_file():
        text = f"{said}. `fourways book` builds the book, where it is {path}:"
        return {"text/plain": text, "text/markdown": text}
    address = f"{os.environ[BOOK]}/{name}#{anchor}" if os.environ.get(BOOK) else path
    return {"text/plain": f"{said}. In the book: {path}", "text/markdown": f"{said}. [In the book]({address}):"}
