"""Recorded notebooks: the outputs of a cell, the kernels that they come from, and the rows of tables."""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fourways import kernels, tables
from fourways.lesson.notebook import Lesson, tags

NOT_RECORDED = "Not recorded."
OTHER_KERNEL = "Not recorded with today's kernel."
OTHER_PROGRAM = "Not recorded with today's program."
_LINES = (NOT_RECORDED, OTHER_KERNEL, OTHER_PROGRAM)


def outputs(lesson: Lesson, recording: Path | None = None) -> list[list[Any]]:
    """Return for each cell of a lesson's notebook the outputs of the code cell with the same source in `recording`.

    The default is the lesson's notebook in `book/recorded`. A line stands in place of the outputs: NOT_RECORDED, if
    there is no such cell; OTHER_KERNEL, if a kernel or binding of the lesson has changed since, and the cell may use
    the GPU; OTHER_PROGRAM, if a program that the cell runs has.
    """
    recorded = _read(recording or _recording(lesson.slug))
    by_source = _by_source(recorded)
    stamp = recorded.metadata["fourways"]["stamp"] if recorded else {}
    is_other = recorded and stamp["kernels"] != kernel_hashes(lesson)
    programs = program_hashes(lesson)
    changed = [name for name, digest in programs.items() if stamp.get("programs", {}).get(name) != digest]

    def of_cell(cell: Any) -> list[Any]:
        if cell.cell_type != "code":
            return []
        if (cell_outputs := by_source.get(cell.source.strip())) is None:
            return [_line(NOT_RECORDED)]
        if any(name in cell.source for name in changed):
            return [_line(OTHER_PROGRAM)]
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
    return {name: _digest(_with_headers(files)) for name, files in sources.items()}


def program_hashes(lesson: Lesson) -> dict[str, str]:
    """Return for each file or folder of `lessons/programs` that a cell of the lesson names the SHA-256 of its files."""
    named = {name for cell in lesson.notebook.cells for name in re.findall(r"\bprograms/[\w.]+", cell.source)}
    paths = {name: lesson.path.parent / name for name in sorted(named)}
    files = {name: [path] if path.is_file() else sorted(path.glob("*.*")) for name, path in paths.items()}
    return {name: _digest(path for path in inside if path.is_file()) for name, inside in files.items() if inside}


def _digest(paths: Iterable[Path]) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def _with_headers(sources: Iterable[Path]) -> list[Path]:
    """Return the files that exist, the headers beside them that they include, and those headers' .cpp files."""
    collected = [file for file in sources if file.is_file()]
    for file in collected:  # grows
        for name in re.findall(r'^#include "([\w.]+)"', file.read_text(encoding="utf-8"), re.MULTILINE):
            if (header := file.with_name(name)).is_file():
                both = (header, header.with_suffix(".cpp"))
                collected += [each for each in both if each.is_file() and each not in collected]
    return collected


def _recording(slug: str) -> Path:
    return kernels.root() / "book" / "recorded" / f"{slug}.ipynb"


def _read(recording: Path) -> Any:
    import nbformat

    return nbformat.read(recording, 4) if recording.is_file() else None


def _by_source(notebook: Any) -> dict[str, list[Any]]:
    cells = notebook.cells if notebook else ()
    return {cell.source.strip(): cell.outputs for cell in cells if cell.cell_type == "code"}


def _line(text: str) -> Any:
    from nbformat.v4 import new_output

    return new_output("display_data", {"text/markdown": f"*{text}*", "text/plain": text})


def show(slug: str, code: str) -> None:
    """Show in a notebook the recorded outputs of the cell of lesson `slug` with this `code`, and where they come from.

    Shows nothing if the lesson was not recorded, or the cell was skipped or had no output.
    """
    from IPython.display import display

    notebook = _read(_recording(slug))
    outputs = _by_source(notebook).get(code.strip())
    if not notebook or outputs == [] or (outputs and outputs[0].get("text", "").startswith("Skipped: ")):
        return
    stamp = notebook.metadata["fourways"]["stamp"]
    where = f"{stamp['device'] or 'a machine without a GPU'}, {stamp['date'][:10]}"
    print(f"Recorded on {where}:" if outputs else f"This cell has changed since it was recorded on {where}.")
    for output in outputs or ():
        if "data" in output:
            data = {kind: content for kind, content in output.data.items() if kind != tables.MIME}
            display(data, metadata=output.metadata, raw=True)
        elif "text" in output:
            print(output.text, end="")
