"""A lesson's page: today's text with the outputs of a GPU run, recorded or made on the machine that builds the book.

Outputs are shown only if they come from today's code (`lesson.fingerprint`). Other lessons are shown without outputs,
and say why.
"""

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from fourways import figures, files, kernels, lesson, tables

_SOURCES = {"cells": "its code cells", "kernel": "its kernel", "binding": "its binding"}

_BROKEN = (ValueError, LookupError, TypeError, AttributeError)
"""What reading a damaged notebook raises."""


class BookError(RuntimeError):
    """A failed build of the book. The message says why and what to do; an older book is left unchanged."""


@dataclass(frozen=True)
class Page:
    """A lesson as the book shows it. `stale` says why there are no outputs, or ""."""

    lesson: lesson.Lesson
    notebook: Any
    stale: str = ""


def shown(target: lesson.Lesson) -> Path:
    """Return the notebook whose outputs the book shows for a lesson; it need not exist.

    It is `build/lessons/SLUG.ipynb`, if that is a complete run of today's code on a GPU, else the recorded one.
    """
    own = kernels.root() / "build" / "lessons" / f"{target.slug}.ipynb"
    try:
        stamp = stamp_of(own)
        is_fresh = stamp.get("device") and stamp["sources"] == lesson.fingerprint(target)
    except _BROKEN:
        is_fresh = False
    return own if is_fresh else kernels.root() / "book" / "recorded" / own.name


def stamp_of(notebook: Path) -> Mapping[str, Any]:
    """Return the stamp of a notebook's run; an empty one if there is no file, or it holds no complete run."""
    import nbformat

    metadata = nbformat.read(notebook, 4).metadata if notebook.is_file() else {}
    return metadata.get("fourways", {}).get("stamp", {})


def merge(target: lesson.Lesson, recording: Path) -> Page:
    """Return the page of a lesson with the outputs of `recording`, or without outputs if the recording is stale.

    Solutions and the outputs that answer a question are folded. The page begins with a line on the origin of its
    outputs. Raises BookError for a broken recording, and if its stamp fits the lesson but not its number of cells.
    """
    try:
        return _merge(target, recording)
    except kernels.InputError:  # of the lesson
        raise
    except _BROKEN as error:
        again = f"take it from git, or run `fourways run {target.number} --record` on a machine with a GPU"
        raise BookError(f"{files.short(recording)} is no whole recording ({type(error).__name__}): {again}") from error


def _merge(target: lesson.Lesson, recording: Path) -> Page:
    notebook = copy.deepcopy(target.notebook)
    stamp, outputs, stale = _read(target, recording)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell, cell_outputs in zip(code, outputs, strict=True):
        cell.outputs = cell_outputs
        for output in cell.outputs:
            data = output.get("data", {})
            data.pop(tables.MIME, None)  # a table's rows: the page shows the table itself
            if 'class="fourways"' in data.get("text/html", ""):
                data["text/html"] = readable(data["text/html"])
            if "image/svg+xml" in data:
                cell.metadata["mystnb"] = {"image": {"alt": figures.description(data["image/svg+xml"])}}
    for cell, answers in zip(notebook.cells, lesson.asked(notebook), strict=True):
        if f"way-{target.meta.get('opens')}" in lesson.tags(cell):
            cell.metadata["tags"].append("opens")  # the tab that is open at first
        if "solution" in lesson.tags(cell):
            _fold(cell)
        elif answers:
            folded = [tag for tag in lesson.tags(cell) if tag != "hide-input"]  # or there would be two folds
            cell.metadata["tags"] = [*folded, "hide-output" if folded == lesson.tags(cell) else "hide-cell"]
            _name_fold(cell, "Result")
        elif "hide-input" in lesson.tags(cell):
            _name_fold(cell, "Code")
    remedy = f"On a machine with a GPU, `fourways run {target.number} --record` records them."
    missing = f":::{{admonition}} No outputs\n:class: warning\nThis page shows no outputs. {stale} {remedy}\n:::"
    note = missing if stale else provenance(stamp)
    first = next(cell for cell in notebook.cells if cell.cell_type == "markdown")
    first.source = re.sub(r"^# .+$", lambda title: f"{title[0]}\n\n{note}\n", first.source, count=1, flags=re.MULTILINE)
    return Page(target, notebook, stale)


def _read(target: lesson.Lesson, recording: Path) -> tuple[Mapping[str, Any], list[list[Any]], str]:
    """Return the stamp of a recording, the outputs of each code cell, and why there are none, or "".

    Raises BookError as `merge` does.
    """
    import nbformat

    cells = [cell for cell in target.notebook.cells if cell.cell_type == "code"]
    nothing: list[list[Any]] = [[] for _ in cells]
    stamp = stamp_of(recording)
    if not stamp:
        return stamp, nothing, "It has not been recorded on a GPU yet."
    today, then = lesson.fingerprint(target), stamp["sources"]
    if changed := " and ".join(words for part, words in _SOURCES.items() if today[part] != then.get(part)):
        return stamp, nothing, f"Changed since the recording on {stamp['date'][:10]}: {changed}."
    recorded = nbformat.read(recording, 4)
    outputs = [cell.get("outputs", []) for cell in recorded.cells if cell.cell_type == "code"]
    if len(outputs) != len(cells):
        raise BookError(
            f"{recording.name} holds {len(outputs)} code cells, the lesson has {len(cells)}, yet its stamp fits. "
            f"Record it again on a machine with a GPU: fourways run {target.number} --record"
        )
    return stamp, outputs, ""


def readable(html: str) -> str:
    """Return a table's HTML with its first column as the rows' heads, and with classes for numbers and long words."""
    html = html.replace("<th>", '<th scope="col">')
    html = re.sub(r"<tr><td>(.*?)</td>", r'<tr><th scope="row">\1</th>', html)
    html = re.sub(r"<td>(?=[-+−×< ]*\d)(?![^<]{32})", '<td class="number">', html)
    return re.sub(r"<td>(?=[^<]{32})", '<td class="words">', html)


def _fold(cell: Any) -> None:
    if cell.cell_type == "markdown":
        cell.source = f"``````{{dropdown}} Solution\n{cell.source}\n``````"
    else:
        cell.metadata["tags"] = [*lesson.tags(cell), "hide-cell"]
        _name_fold(cell, "Solution")


def _name_fold(cell: Any, name: str) -> None:
    cell.metadata.setdefault("mystnb", {}).update(code_prompt_show=name, code_prompt_hide=name)


def provenance(stamp: Mapping[str, Any]) -> str:
    """Return the line on the origin of recorded outputs: device, driver, compilers, day."""
    versions = {"driver": "driver", "nvcc": "nvcc", "nvrtc": "NVRTC"}
    parts = [
        f"Outputs recorded on **{escape(stamp['device'])}**"
        if stamp.get("device")
        else "Outputs recorded without a GPU",
        *(f"{name} {stamp[key]}" for key, name in versions.items() if stamp.get(key)),
        stamp["date"][:10],
    ]
    return f":::{{div}} provenance\n{' · '.join(parts)} · [how it was measured](#how-measured)\n:::"
