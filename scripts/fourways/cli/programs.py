"""The commands that watch a program run: `fourways profile`, `fourways timeline`."""

import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from fourways import files
from fourways.cli import options


def profile(
    target: Annotated[
        str, typer.Argument(help="A lesson's number, a .cu or .cuh file, a Python program, or a report (.ncu-rep).")
    ],
    arguments: Annotated[list[str] | None, typer.Argument(help="The arguments of a program of your own.")] = None,
    way: Annotated[Literal["nvrtc", "nvcc", "pycuda", "pybind11"], typer.Option("--way", "-w")] = "nvrtc",
    size: options.Size = "2^26",
    entry: Annotated[str | None, typer.Option(help="The kernel to profile, of several that a way calls.")] = None,
    case: options.CaseFile = None,
    clocks: Annotated[
        Literal["base", "none"], typer.Option(help="`base`: hold the GPU's base clock. `none`: leave it.")
    ] = "base",
    report: Annotated[
        Path | None,
        typer.Option(help="Keep the report here (.ncu-rep), for Nsight Compute.", callback=options.writable),
    ] = None,
    json_file: options.Json = None,
) -> None:
    """Profile one call of one way with Nsight Compute: its metrics and what they mean, and the hottest source lines.

    `fourways profile 1` profiles lesson 01's kernel as built by NVRTC; `fourways profile 1 --way pycuda --size 2^20` in
    another way, on fewer elements. The command of `ncu` is shown.

    `fourways profile my.cu --case my_case.py --report mine.ncu-rep` profiles your own kernel, and keeps the report;
    `fourways check --help` shows a case.

    `fourways profile program.py` profiles all launches of a Python program of your own, or those of `--entry`.

    `fourways profile mine.ncu-rep` prints a report that you have; no GPU is needed.
    """
    from fourways import profiling, toolchain, ways

    if report and report.suffix != ".ncu-rep":
        raise typer.BadParameter(f"{report}: a report is a .ncu-rep file", param_hint="--report")
    with tempfile.TemporaryDirectory(prefix="fourways-") as place:
        kept = Path(target)
        if kept.suffix != ".ncu-rep":
            chosen = ["--clock-control", clocks]
            if kept.suffix == ".py":
                if reason := toolchain.missing("gpu"):
                    raise RuntimeError(f"nothing to profile: {reason}")
                program = kept.resolve()
            else:
                elements = options.asked_size(size)
                options.refuse_missing([way], ways.missing)
                program = _program(target, way, elements, case, Path(place))
                chosen += ["--profile-from-start", "off"]
            # a module from PyCUDA's cache may have no source lines; `profiling` sees to CuPy's
            variables = toolchain.child_environment() | {"PYCUDA_CACHE_DIR": place}
            variables["NVCC_APPEND_FLAGS"] = f"{variables.get('NVCC_APPEND_FLAGS', '')} -lineinfo"
            kernel, output = entry.partition("<")[0] if entry else "", report or Path(place, "report.ncu-rep")
            how: dict[str, Any] = {"kernel": kernel, "options": chosen, "variables": variables}
            kept = profiling.ncu(program, *(arguments or ()), report=output, **how)
        tables: list[Any] = [profiling.metrics(kept), profiling.lines(kept)]
    options.console.print(*tables)
    options.keep(json_file, tables)


def _program(target: str, way: str, size: int, case: Path | None, folder: Path) -> Path:
    """Write the program of a lesson's way, or of a kernel of your own, into `folder`, and return its path."""
    from fourways import lesson

    text = lesson.target(target, case).program(way, size)
    path = folder / f"{Path(target).stem}_{way}.py"
    path.write_text(text, encoding="utf-8")
    return path


def timeline(
    program: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="A Python program, which waits for the GPU at its end.")
    ],
    arguments: Annotated[list[str] | None, typer.Argument(help="The program's arguments.")] = None,
    trace: Annotated[
        Path | None,
        typer.Option(help="The JSON file to write for Perfetto (ui.perfetto.dev).", callback=options.writable),
    ] = None,
    json_file: options.Json = None,
) -> None:
    """Show when host and GPU did what in a program, recorded by CUPTI: kernels, copies, CUDA calls.

    `fourways timeline program.py` sums up the GPU's work in a Python program of your own, and the gaps between.

    `fourways timeline program.py --trace trace.json` also writes all that was recorded for Perfetto, which draws it.
    Comments of one word in the program, such as `# import` or `# launch`, and NVTX ranges have lanes there. It needs a
    GPU, but no rights to its counters.
    """
    from fourways import timeline
    from fourways.tables import Table

    with options.errors.status(f"recording {program.name}"):
        rows = timeline.record(program, *(arguments or ()))
    table = timeline.table(rows)
    options.console.print(table)
    if trace:
        files.write_text(trace, timeline.trace_json(rows))
    options.keep(json_file, [table, Table("timeline", rows)])
