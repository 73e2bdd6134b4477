"""Recorded notebooks: a cell's outputs, the kernels that they come from, rows, and a cell's section in the book."""

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
NOT_RECORDED = "Not recorded."
OTHER_KERNEL = "Not recorded with today's kernel."
_LINES = (NOT_RECORDED, OTHER_KERNEL)


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


def outputs(lesson: Lesson, recording: Path | None = None) -> list[list[Any]]:
    """Return for each cell of a lesson's notebook the outputs of the code cell with the same source in `recording`.

    The default is the lesson's notebook in `book/recorded`. A line stands in place of the outputs: NOT_RECORDED, if
    there is no such cell; OTHER_KERNEL, if a kernel or binding of the lesson has changed since, and the cell may use
    the GPU.
    """
    recorded = _read(recording or _recording(lesson.slug))
    by_source = _by_source(recorded)
    is_other = recorded and recorded.metadata["fourways"]["stamp"]["kernels"] != kernel_hashes(lesson)

    def of_cell(cell: Any) -> list[Any]:
        if cell.cell_type != "code":
            return []
        if (cell_outputs := by_source.get(cell.source.strip())) is None:
            return [_line(NOT_RECORDED)]
        on_host = {"way-host", "needs-host"} & set(tags(cell)) and "gpu" not in tags(cell)
        return [_line(OTHER_KERNEL)] if is_other and cell_outputs and not on_host else cell_outputs

    return [of_cell(cell) for cell in lesson.notebook.cells]


def unrecorded(lesson: Lesson, recording: Path | None = None) -> list[str]:
    """Return the cells for which `outputs` has only a line, each as its first line of code and that line."""
    cells = zip(lesson.notebook.cells, outputs(lesson, recording), strict=True)
    said = [(cell.source.partition("\n")[0], line) for cell, each in cells for line in _LINES if each == [_line(line)]]
    return [f"{code}: {line}" for code, line in said]


def rows(recording: Path) -> dict[str, list[tables.Row]]:
    """Return the rows of all tables in a recorded notebook, by the table's name."""
    import nbformat

    outputs = [output for cell in nbformat.read(recording, 4).cells for output in cell.get("outputs", ())]
    bundles = [output.data[tables.MIME] for output in outputs if tables.MIME in output.get("data", {})]
    return {bundle["table"]: bundle["rows"] for bundle in bundles}


def kernel_hashes(lesson: Lesson) -> dict[str, str]:
    """Return for each kernel of a lesson the SHA-256 of its text and of its binding's files."""
    aot = kernels.root() / "cpp" / "aot"
    sources = {name: (kernels.path(name), aot / f"{name}.cu", aot / f"{name}.cpp") for name in lesson.kernels}
    return {name: digest(file.read_bytes() for file in _with_headers(files)) for name, files in sources.items()}


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


def _recording(slug: str) -> Path:
    return kernels.root() / "book" / "recorded" / f"{slug}.ipynb"


def _read(recording: Path) -> Any:
    """Return a recorded notebook, or None if there is no such file."""
    import nbformat

    return nbformat.read(recording, 4) if recording.is_file() else None


def _by_source(notebook: Any) -> dict[str, list[Any]]:
    cells = notebook.cells if notebook else ()
    return {cell.source.strip(): cell.outputs for cell in cells if cell.cell_type == "code"}


def _line(text: str) -> Any:
    from nbformat.v4 import new_output

    return new_output("display_data", {"text/markdown": f"*{text}*", "text/plain": text})


def show(slug: str, anchor: str, code: str) -> None:
    """Show in a notebook the recorded outputs of the cell of lesson `slug` with this `code`, and a link to its section.

    Shows nothing if the lesson was not recorded, or the cell was skipped or had no output.
    """
    from IPython.display import display

    notebook = _read(_recording(slug))
    outputs = _by_source(notebook).get(code.strip())
    if not notebook or outputs == [] or (outputs and outputs[0].get("text", "").startswith("Skipped: ")):
        return
    stamp = notebook.metadata["fourways"]["stamp"]
    where = f"{stamp['device'] or 'a machine without a GPU'}, {stamp['date'][:10]}"
    said = f"Recorded on {where}" if outputs else f"This cell has changed since it was recorded on {where}"
    display(_linked(said, slug, anchor), raw=True)
    for output in outputs or ():
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
