"""The command `fourways profile`. As in `cli`: parse, call, print."""

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from fourways.cli_tools import FigureFile, Json, draw, save, writable


def profile(
    target: Annotated[str, typer.Argument(help="A lesson's number, a .cu or .cuh file, or a report (.ncu-rep).")],
    way: Annotated[str, typer.Option("--way", "-w", help="nvrtc, nvcc, pycuda or pybind11.")] = "nvrtc",
    size: Annotated[str, typer.Option(help="Elements, as 1000 or 2^26.")] = "2^26",
    entry: Annotated[str | None, typer.Option(help="The kernel of a file; or one of several that a way calls.")] = None,
    clocks: Annotated[str, typer.Option(help="`base`: hold the GPU's base clock. `none`: leave it.")] = "base",
    full: Annotated[bool, typer.Option("--full", help="Collect all that Nsight Compute can: slower.")] = False,
    report: Annotated[
        Path | None, typer.Option(help="Keep the report here (.ncu-rep), for Nsight Compute.", callback=writable)
    ] = None,
    nsys: Annotated[
        bool, typer.Option("--nsys", help="Nsight Systems instead: its command, run if it is here.")
    ] = False,
    timeline: Annotated[
        bool, typer.Option("--timeline", help="When host and GPU did what, instead; `--way all`: every cell.")
    ] = False,
    trace: Annotated[
        Path | None, typer.Option(help="With `--timeline`: the JSON file to write for Perfetto.", callback=writable)
    ] = None,
    json_file: Json = None,
    figure: FigureFile = None,
) -> None:
    """Profile one call of one way with Nsight Compute: ten figures and what they mean, and the hottest source lines.

    `fourways profile 1` profiles lesson 01's kernel as built by NVRTC; `fourways profile 1 --way pycuda --size 2^20` in
    another way, on fewer elements.

    `fourways profile my.cu --entry mine --report mine.ncu-rep --figure roofline.svg` profiles a kernel of your own,
    keeps the report and draws the roofline. The kernel must be
    `extern "C" __global__ void mine(const float *x, float *y, long long n)`.

    `fourways profile mine.ncu-rep` prints a report that you have; no GPU is needed.

    `fourways profile 1 --timeline --figure timeline.svg --trace trace.json` records kernels, copies, CUDA calls and the
    stages of the run, without Nsight Systems; Perfetto (ui.perfetto.dev) opens the trace.

    `fourways profile 1 --nsys` prints the command that records a timeline with Nsight Systems, and runs it.
    """
    from fourways import counters, lesson, profiling, reports, timing

    if trace and not timeline:
        raise typer.BadParameter("it wants --timeline as well", param_hint="--trace")
    if timeline:
        return _timeline(target, way, _size(size), trace, json_file, figure)
    console = Console()
    if target.endswith(".ncu-rep"):
        found, title = counters.read(Path(target)), Path(target).stem
    else:
        elements, title = _size(size), f"{lesson.kernel_file(target).stem}, {way}"
        on_gpu = [known for known in lesson.WAYS if known != "host"]
        for value, known, option in ((way, on_gpu, "--way"), (clocks, profiling.CLOCKS, "--clocks")):
            if value not in known:
                raise typer.BadParameter(f"{value!r}; choose from {', '.join(known)}", param_hint=option)
        if nsys:
            output = report or Path(f"{lesson.kernel_file(target).stem}_{way}.nsys-rep")
            words = profiling.nsys_command(target, way, elements, output, entry)
            print(shlex.join(words))
            return profiling.run_nsys(words)
        if report and report.suffix != ".ncu-rep":
            raise typer.BadParameter(f"{report}: a report is a .ncu-rep file", param_hint="--report")
        try:
            with Console(stderr=True).status(f"profiling {target}, {way}"):
                found = profiling.profile(target, way, elements, entry, clocks, full, report)
        except profiling.NoCountersError:
            console.print(timing.table([profiling.by_events(target, way, elements, entry)], "By events, no counters."))
            raise
    tables = [reports.table(found.figures), reports.lines_table(found.lines)]
    for table in tables:
        console.print(table)
    draw(figure, lambda: reports.figure(found.figures, title))
    save(json_file, tables)


def _timeline(
    target: str, way: str, size: int, trace: Path | None, json_file: Path | None, figure: Path | None
) -> None:
    from fourways import files, lesson, own_kernel, timeline, timeline_figure

    if own_kernel.is_file(target) or target.endswith(".ncu-rep"):
        raise typer.BadParameter("it shows a lesson: name one by its number", param_hint="--timeline")
    found = lesson.find(target)
    with Console(stderr=True).status(f"recording {found.slug}, {way}"):
        rows = timeline.record(found, None if way == "all" else way, size)
    Console().print(timeline.table(rows))
    if trace:
        files.write_text(trace, timeline.trace_json(rows))
    save(json_file, [timeline.table(rows), timeline.events(rows)])
    draw(figure, lambda: timeline_figure.figure(rows, f"{found.slug}, {way}"))


def _size(text: str) -> int:
    from fourways import timing

    try:
        sizes = timing.parse_sizes(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--size") from None
    if len(sizes) > 1:
        raise typer.BadParameter(f"{text}: one size at a time", param_hint="--size")
    return sizes[0]
