"""A lesson's page: today's text with the outputs of its recorded GPU runs.

Outputs are shown only if the lesson was recorded with today's code (`record.fingerprint`). Other lessons are shown
without outputs, and say why.
"""

import base64
import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from fourways import figures, lesson, tables
from fourways.book.record import fingerprint, of_other_devices

_SOURCES = {"cells": "its code cells", "kernel": "its kernel", "binding": "its binding"}


class BookError(RuntimeError):
    """A failed build of the book. The message says why and what to do; an older book is left unchanged."""


@dataclass(frozen=True)
class Page:
    """A lesson as the book shows it. `stamp` is that of its recording; `stale` says why there are no outputs, or ""."""

    lesson: lesson.Lesson
    notebook: Any
    stamp: Mapping[str, Any]
    stale: str = ""


class _Recording(NamedTuple):
    """The outputs of each code cell; `stale` says why there are none, or "". `renamed`: names in the code changed."""

    stamp: Mapping[str, Any]
    outputs: list[list[Any]]
    stale: str
    renamed: bool


def merge(target: lesson.Lesson, recording: Path) -> Page:
    """Return the page of a lesson with the outputs of `recording`, or without outputs if the recording is stale.

    Solutions and the outputs that answer a question are folded. The page begins with a line on the origin of its
    outputs. Below the outputs of a cell are those of other devices (`book/recorded/DEVICE`), unless these are stale.
    Raises BookError if the recording's stamp fits the lesson but its number of cells does not.

    `renamed_since` in a lesson's metadata is the digest of the recorded cells. It declares that today's cells differ
    from them in names of this package alone; the page shows the outputs, and says so.
    """

    notebook = copy.deepcopy(target.notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    stamp, outputs, stale, renamed = _read(target, recording)
    others = [_read(target, path) for path in of_other_devices(recording)]
    own = [other for other in others if not stale and not other.stale]
    for cell, cell_outputs in zip(code, outputs, strict=True):
        cell.outputs = cell_outputs
        for output in cell.outputs:
            data = output.get("data", {})
            data.pop(tables.MIME, None)  # a table's rows: the page shows the table itself
            if 'class="fourways"' in data.get("text/html", ""):
                data["text/html"] = readable(data["text/html"])
            if "image/svg+xml" in data:
                cell.metadata["mystnb"] = {"image": {"alt": figures.description(data["image/svg+xml"])}}
    for other in own:
        for cell, book_outputs, own_outputs in zip(code, outputs, other.outputs, strict=True):
            cell.outputs = [*cell.outputs, *_beside(other.stamp, book_outputs, own_outputs)]
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
    remarks = ["names in the code changed since"] * renamed + [f"beside them those of {_where(o.stamp)}" for o in own]
    note = missing if stale else provenance(stamp, " · ".join(remarks))
    first = next(cell for cell in notebook.cells if cell.cell_type == "markdown")
    first.source = re.sub(r"^# .+$", lambda title: f"{title[0]}\n\n{note}\n", first.source, count=1, flags=re.MULTILINE)
    return Page(target, notebook, stamp, stale)


def _read(target: lesson.Lesson, recording: Path) -> _Recording:
    """Return a lesson's recording, without outputs if there is none or it is stale. Raises BookError as `merge`."""
    import nbformat

    cells = [cell for cell in target.notebook.cells if cell.cell_type == "code"]
    if not recording.is_file():
        return _Recording({}, [[] for _ in cells], "It has not been recorded on a GPU yet.", False)
    recorded = nbformat.read(recording, 4)
    stamp = recorded.metadata["fourways"]["stamp"]
    today, then = fingerprint(target), stamp["sources"]
    if renamed := then["cells"] == target.meta.get("renamed_since"):
        today["cells"] = then["cells"]
    if changed := " and ".join(words for part, words in _SOURCES.items() if today[part] != then.get(part)):
        stale = f"Changed since the recording on {stamp['date'][:10]}: {changed}."
        return _Recording(stamp, [[] for _ in cells], stale, renamed)
    outputs = [cell.get("outputs", []) for cell in recorded.cells if cell.cell_type == "code"]
    if len(outputs) != len(cells):
        raise BookError(
            f"{recording.name} holds {len(outputs)} code cells, the lesson has {len(cells)}, yet its stamp fits. "
            f"Record it again on a machine with a GPU: fourways run {target.number} --record"
        )
    return _Recording(stamp, outputs, "", renamed)


def _beside(stamp: Mapping[str, Any], shown: list[Any], outputs: list[Any]) -> list[Any]:
    """Return one output with what a cell gave on another device, and not on the book's; none if there is nothing."""
    import nbformat

    known = [_as_html(output) for output in shown]
    ran = [_as_html(output) for output in outputs if not output.get("text", "").startswith("Skipped: ")]
    parts = [part for part in ran if part not in known]
    if not parts:
        return []
    html = f'<div class="own-gpu"><p>On {_where(stamp)}:</p>{"".join(parts)}</div>'
    return [nbformat.v4.new_output("display_data", {"text/html": html})]


def _as_html(output: Any) -> str:
    """Return an output as HTML: a table, a figure with its words, or text."""
    data = output.get("data", {})
    if "image/svg+xml" in data:
        svg = data["image/svg+xml"]
        return picture(svg.encode(), figures.description(svg))
    if 'class="fourways"' in data.get("text/html", ""):
        return readable(data["text/html"])
    return f"<pre>{escape(output.get('text') or data.get('text/plain') or '')}</pre>"


def picture(svg: bytes, words: str) -> str:
    """Return an SVG as an HTML image that holds it, with `words` as its alternative text."""
    return f'<img src="data:image/svg+xml;base64,{base64.b64encode(svg).decode()}" alt="{escape(words)}">'


def _where(stamp: Mapping[str, Any]) -> str:
    return f"{stamp['device'] or 'a machine without a GPU'}, {stamp['date'][:10]}"


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


def provenance(stamp: Mapping[str, Any], remark: str = "") -> str:
    """Return the line on the origin of recorded outputs: device, driver, compilers, day; and a remark."""
    versions = {"driver": "driver", "nvcc": "nvcc", "nvrtc": "NVRTC"}
    parts = [
        f"Outputs recorded on **{stamp['device']}**" if stamp.get("device") else "Outputs recorded without a GPU",
        *(f"{name} {stamp[key]}" for key, name in versions.items() if stamp.get(key)),
        stamp["date"][:10],
        *([remark] if remark else []),
    ]
    return f":::{{div}} provenance\n{' · '.join(parts)} · [how it was measured](#how-measured)\n:::"
