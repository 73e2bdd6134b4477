"""The command `fourways timeline`."""

from pathlib import Path
from typing import Annotated

import typer

from fourways import files
from fourways.cli.options import FigureFile, Json, Size, asked_size, console, errors, keep, one_of, writable


def timeline(
    lesson: Annotated[str, typer.Argument(help="A lesson's number or name.")],
    way: Annotated[
        str, typer.Option("--way", "-w", help="nvrtc, nvcc, pycuda or pybind11; `all`: every cell.")
    ] = "nvrtc",
    size: Size = "2^26",
    trace: Annotated[
        Path | None, typer.Option(help="The JSON file to write for Perfetto (ui.perfetto.dev).", callback=writable)
    ] = None,
    json_file: Json = None,
    figure: FigureFile = None,
) -> None:
    """Show when host and GPU did what, recorded by CUPTI: kernels, copies, CUDA calls, and the stages of the run.

    `fourways timeline 1` records lesson 01's kernel as built by NVRTC, from its imports to the copied result;
    `fourways timeline 1 --way all` every cell of the lesson.

    `fourways timeline 1 --figure timeline.svg --trace trace.json` draws it, and writes it for Perfetto. It needs a
    GPU, but no rights to its counters.
    """
    from fourways import lesson as lessons
    from fourways import timeline

    one_of([way], [*lessons.WAYS, "all"], "--way")
    found, elements = lessons.find(lesson), asked_size(size)
    with errors.status(f"recording {found.slug}, {way}"):
        rows = timeline.of_lesson(found, None if way == "all" else way, elements)
    table = timeline.table(rows)
    console.print(table)
    if trace:
        files.write_text(trace, timeline.trace_json(rows))
    tables = [table, timeline.events(rows)]
    keep(json_file, tables, figure, lambda: timeline.figure(rows, f"{found.slug}, {way}"))
