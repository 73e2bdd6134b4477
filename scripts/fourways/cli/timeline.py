"""The command `fourways timeline`."""

from pathlib import Path
from typing import Annotated

import typer

from fourways import files
from fourways.cli import options


def timeline(
    name: Annotated[str, typer.Argument(metavar="PROGRAM", help="A Python program, or a lesson's number or name.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="The arguments of a program of your own.")] = None,
    way: Annotated[str, typer.Option("--way", "-w", help="nvrtc, nvcc, pycuda or pybind11.")] = "nvrtc",
    size: options.Size = "2^26",
    trace: Annotated[
        Path | None,
        typer.Option(help="The JSON file to write for Perfetto (ui.perfetto.dev).", callback=options.writable),
    ] = None,
    json_file: options.Json = None,
    figure: options.FigureFile = None,
) -> None:
    """Show when host and GPU did what in a program, recorded by CUPTI: kernels, copies, CUDA calls.

    `fourways timeline program.py` records a Python program of your own. Comments of one word in it, such as `# import`
    or `# launch`, and NVTX ranges show in the figure.

    `fourways timeline 1` records one way of lesson 01's kernel, from its imports to ten more launches.

    `fourways timeline 1 --figure timeline.svg --trace trace.json` draws it, and writes it for Perfetto. It needs a
    GPU, but no rights to its counters.
    """
    from fourways import lesson, timeline, timeline_figure
    from fourways.tables import Table

    program: Path | str = Path(name)
    if Path(name).suffix == ".py":
        title = Path(name).name
        if not Path(name).is_file():
            raise typer.BadParameter(f"no file {name}", param_hint="PROGRAM")
    else:
        found, elements = lesson.find(name), options.asked_size(size)
        options.gpu_way(way)
        program, title = lesson.program(found, way, elements, launches=10), f"{found.slug}, {way}"
    with options.errors.status(f"recording {title}"):
        rows = timeline.record(program, *(arguments or ()))
    table = timeline.table(rows)
    options.console.print(table)
    if trace:
        files.write_text(trace, timeline.trace_json(rows))
    tables = [table, Table("timeline", rows)]  # from all rows trace, figure and table can be made again
    options.keep(json_file, tables, figure, lambda: timeline_figure.figure(rows, title))
