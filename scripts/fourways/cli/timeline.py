"""The command `fourways timeline`."""

from pathlib import Path
from typing import Annotated

import typer

from fourways import files
from fourways.cli import options


def timeline(
    name: Annotated[
        str, typer.Argument(metavar="KERNEL", help="A lesson's number or name, or a .cu file of your own.")
    ],
    way: Annotated[str, typer.Option("--way", "-w", help="nvrtc, nvcc, pycuda or pybind11.")] = "nvrtc",
    size: options.Size = "2^26",
    entry: options.Entry = None,
    case: options.CaseFile = None,
    trace: Annotated[
        Path | None,
        typer.Option(help="The JSON file to write for Perfetto (ui.perfetto.dev).", callback=options.writable),
    ] = None,
    json_file: options.Json = None,
    figure: options.FigureFile = None,
) -> None:
    """Show when host and GPU did what, recorded by CUPTI: kernels, copies, CUDA calls, and the stages of the run.

    `fourways timeline 1` records lesson 01's kernel as built by NVRTC, from its imports to the copied result.

    `fourways timeline my.cu --case my_case.py` records a kernel of your own; `fourways case my.cu` begins its case.

    `fourways timeline 1 --figure timeline.svg --trace trace.json` draws it, and writes it for Perfetto. It needs a
    GPU, but no rights to its counters.
    """
    from fourways import timeline
    from fourways.tables import Table
    from fourways.ways import WAYS

    options.one_of([way], list(WAYS), "--way")
    meant, elements = options.target(name, entry, case), options.asked_size(size)
    title = f"{meant.path.stem}, {way}"
    with options.errors.status(f"recording {title}"):
        rows = timeline.of_lesson(meant, way, elements)
    table = timeline.table(rows)
    options.console.print(table)
    if trace:
        files.write_text(trace, timeline.trace_json(rows))
    tables = [table, Table("timeline", rows)]  # from all rows trace, figure and table can be made again
    options.keep(json_file, tables, figure, lambda: timeline.figure(rows, title))
