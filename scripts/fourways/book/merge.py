"""A lesson's page: today's text with the outputs of a GPU run, recorded or made on the machine that builds the book.

An output belongs to its cell: it is shown if the cell's source is the recorded one (`lesson.outputs`).
"""

import copy
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from fourways import figures, kernels, lesson, tables


class BookError(RuntimeError):
    """A failed build of the book. The message says why and what to do; an older book is left unchanged."""


def shown(target: lesson.Lesson) -> Path:
    """Return the notebook whose outputs the book shows for a lesson; it need not exist.

    It is `build/lessons/SLUG.ipynb` if that is a complete run of today's cells and kernels on a GPU, or the recorded.
    """
    own = kernels.root() / "build" / "lessons" / f"{target.slug}.ipynb"
    is_whole = stamp_of(own).get("device") and not lesson.unrecorded(target, own)
    return own if is_whole else kernels.root() / "book" / "recorded" / own.name


def stamp_of(notebook: Path) -> Mapping[str, Any]:
    """Return the stamp of a notebook's run; an empty one if there is no file, or it holds no complete run."""
    import nbformat

    metadata = nbformat.read(notebook, 4).metadata if notebook.is_file() else {}
    return metadata.get("fourways", {}).get("stamp", {})


def merge(target: lesson.Lesson, recording: Path) -> Any:
    """Return the notebook of a lesson's page: the outputs of `recording`, a line on their origin, folded solutions."""
    notebook = copy.deepcopy(target.notebook)
    for cell, outputs in zip(notebook.cells, lesson.outputs(target, recording), strict=True):
        if cell.cell_type == "code":
            # neither an answer that is not there yet, nor "Writing FILE"
            is_silent = "exercise" in lesson.tags(cell) or cell.source.startswith("%%writefile")
            cell.outputs = [] if is_silent else outputs
        else:
            cell.source = lesson.with_files(target, cell.source)
        for output in outputs:
            data = output.get("data", {})
            data.pop(tables.MIME, None)  # a table's rows: the page shows the table itself
            if 'class="fourways"' in data.get("text/html", ""):
                data["text/html"] = readable(data["text/html"])
            if "image/svg+xml" in data:
                alt = figures.description(data["image/svg+xml"])
                cell.metadata.setdefault("mystnb", {})["image"] = {"alt": alt}
    for cell in notebook.cells:
        if "solution" in lesson.tags(cell):
            _fold(cell)
        elif "hide-input" in lesson.tags(cell):
            _name_fold(cell, "Code")
    if recording.is_file():
        first = next(cell for cell in notebook.cells if cell.cell_type == "markdown")
        note = provenance(stamp_of(recording))
        first.source = re.sub(r"(?m)^# .+$", lambda title: f"{title[0]}\n\n{note}\n", first.source, count=1)
    return notebook


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
        stamp["date"][:10].replace("-", "\N{NON-BREAKING HYPHEN}"),
    ]
    return f":::{{div}} provenance\n{' · '.join(parts)} · [how it was measured](#how-measured)\n:::"
