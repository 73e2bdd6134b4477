"""The command `fourways profile`."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from fourways.cli import options


def profile(
    target: Annotated[str, typer.Argument(help="A lesson's number, a .cu or .cuh file, or a report (.ncu-rep).")],
    way: Annotated[str, typer.Option("--way", "-w", help="nvrtc, nvcc, pycuda or pybind11.")] = "nvrtc",
    size: options.Size = "2^26",
    entry: Annotated[str | None, typer.Option(help="The kernel of a file; or one of several that a way calls.")] = None,
    case: options.CaseFile = None,
    clocks: Annotated[str, typer.Option(help="`base`: hold the GPU's base clock. `none`: leave it.")] = "base",
    full: Annotated[bool, typer.Option("--full", help="Collect Nsight Compute's full set: slower.")] = False,
    report: Annotated[
        Path | None,
        typer.Option(help="Keep the report here (.ncu-rep), for Nsight Compute.", callback=options.writable),
    ] = None,
    nsys: Annotated[
        bool, typer.Option("--nsys", help="Nsight Systems instead: its command, run if it is here.")
    ] = False,
    json_file: options.Json = None,
    figure: options.FigureFile = None,
) -> None:
    """Profile one call of one way with Nsight Compute: ten metrics and what they mean, and the hottest source lines.

    `fourways profile 1` profiles lesson 01's kernel as built by NVRTC; `fourways profile 1 --way pycuda --size 2^20` in
    another way, on fewer elements.

    `fourways profile my.cu --case my_case.py --report mine.ncu-rep --figure roofline.svg` profiles a kernel of your
    own, keeps the report and draws the roofline. `fourways case my.cu` begins the case.

    `fourways profile mine.ncu-rep` prints a report that you have, up to four launches side by side; no GPU is needed.

    `fourways profile 1 --nsys` prints the command that records a timeline with Nsight Systems, and runs it;
    `fourways timeline 1` records one without.
    """
    from fourways import lesson, measuring, nsight
    from fourways.ways import WAYS

    if target.endswith(".ncu-rep"):
        profiled, title = nsight.read(Path(target)), Path(target).stem
    else:
        elements, title = options.asked_size(size), f"{lesson.kernel_file(target).stem}, {way}"
        options.one_of([way], [name for name, known in WAYS.items() if not known.on_host], "--way")
        options.one_of([clocks], nsight.CLOCKS, "--clocks")
        if nsys:
            output = report or Path(f"{lesson.kernel_file(target).stem}_{way}.nsys-rep")
            words = nsight.nsys_command(target, way, elements, output, entry, case)
            print(shlex.join(words))
            return nsight.run_nsys(words)
        if report and report.suffix != ".ncu-rep":
            raise typer.BadParameter(f"{report}: a report is a .ncu-rep file", param_hint="--report")
        try:
            with options.errors.status(f"profiling {target}, {way}"):
                profiled = nsight.profile(target, way, elements, entry, clocks, full, report, case)
        except nsight.NoCountersError:
            with options.keeping(json_file) as kept:
                row = nsight.by_events(target, way, elements, entry, case)
                kept.append(measuring.table([row], "By events, no counters."))
                options.console.print(kept[0])
                raise
    tables = [nsight.table(profiled.metrics), nsight.lines_table(profiled.lines)]
    options.console.print(*tables)
    options.keep(json_file, tables, figure, lambda: nsight.figure(profiled.metrics, title))
