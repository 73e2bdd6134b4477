"""The commands on single kernels: `fourways build` and its relatives. As in `cli`: parse, call, print."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

Kernel = Annotated[str, typer.Argument(help="A lesson's number, a kernel's name, or a path to a .cu or .cuh file.")]
Arch = Annotated[list[str] | None, typer.Option("--arch", "-a", help="As `90` or `sm_90`, or `all`; several times.")]
Option = Annotated[list[str] | None, typer.Option("--option", "-o", help="For the compiler, e.g. `-o=-DFACTOR=3`.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write the rows here as JSON, too.")]
FigureFile = Annotated[Path | None, typer.Option("--figure", help="Draw it: the .svg or .png file to write.")]


def build(kernel: Kernel, arch: Arch = None, option: Option = None, json_file: Json = None) -> None:
    """Compile a kernel by NVRTC and NVCC and compare: seconds, bytes, registers. Needs no GPU.

    `fourways build 1` takes lesson 01's kernel, for sm_90; `fourways build my.cu --arch all --json builds.json` a file
    of your own, for seven architectures. A second table says which artefact runs on which GPU.
    """
    from fourways import building, builds, lesson

    path, archs = lesson.kernel_file(kernel), builds.architectures(arch or ["sm_90"])
    console = Console()
    with Console(stderr=True).status(f"compiling {path.name}"):
        found = builds.rows(path, building.COMPILERS, archs, option or [])
    tables = [builds.table(found), builds.runs_on(archs)]
    for table in tables:
        console.print(table)
    save(json_file, tables)


def sass(
    kernel: Kernel,
    way: Annotated[
        list[str] | None, typer.Option("--way", "-w", help="A way, options of your own after it; two ways for a diff.")
    ] = None,
    arch: Annotated[list[str] | None, typer.Option("--arch", "-a", help="Default sm_90; two for a diff.")] = None,
    entry: Annotated[str | None, typer.Option(help="Only this function; default: all in the file.")] = None,
    rename: Annotated[bool, typer.Option("--rename", help="A diff that ignores which registers were chosen.")] = False,
    json_file: Json = None,
) -> None:
    """Show the machine code (SASS) that the ways make of a kernel. Needs no GPU.

    `fourways sass 1` counts the instructions of lesson 01's kernel by kind, for every way.

    `fourways sass 1 -w nvrtc` lists them. `fourways sass 1 -w nvrtc -w pycuda` puts two ways side by side, then builds
    the second again, one option changed at a time, until it is the first: that option makes the difference.

    `fourways sass my.cu --entry mine -w pycuda -w "pycuda --fmad=false"` shows what an option does to your kernel;
    `fourways sass 1 -w nvrtc --arch 80 --arch 90` what an architecture does.
    """
    from fourways import lesson
    from fourways import sass as machine_code

    ways, archs = way or list(machine_code.WAYS), arch or ["sm_90"]
    if wrong := [name for name in ways if name.split()[:1] not in [[known] for known in machine_code.WAYS]]:
        raise typer.BadParameter(f"{wrong[0]!r}; choose from {', '.join(machine_code.WAYS)}", param_hint="--way")
    path = lesson.kernel_file(kernel)
    table = machine_code.counts(path, ways, archs, entry)
    sides = [(one, other) for one in ways for other in archs] if way else []
    if len(sides) == 1:
        print(*machine_code.listing(path, *sides[0], entry), sep="\n", end="\n\n")
    if len(sides) == 2:
        (way_a, arch_a), (way_b, arch_b) = sides
        one, other = (machine_code.listing(path, *side, entry) for side in sides)
        print(machine_code.diff(one, other, rename), end="\n\n")
        print(machine_code.explain(path, way_a, way_b, arch_a, arch_b, entry))
    Console().print(table)
    save(json_file, [table])


def link(
    units: Annotated[list[str] | None, typer.Argument(help="Files, or sources in quotes; default: cpp/link.")] = None,
    entry: Annotated[str, typer.Option(help='The `extern "C"` kernel of these units.')] = "apply_transform",
    arch: Annotated[str | None, typer.Option(help="E.g. `sm_90`; default: this machine's GPU, else sm_90.")] = None,
    elements: Annotated[int, typer.Option(help="Elements that the kernel is checked and timed on.", min=1)] = 2**26,
    json_file: Json = None,
) -> None:
    """Link a program of several files in five builds, and show which of them inlined the call between the files.

    `fourways link` takes the plug-in program of cpp/link: a library's kernel that calls a user's function.
    `fourways link --arch sm_75` does so for another GPU; no GPU is needed, but only on one it is checked and timed.
    `fourways link library.cu mine.cu --entry my_kernel` takes files of your own (built, not run).
    A call that is left costs registers and time; link-time optimization (LTO) inlines it, as one source does.
    """
    from fourways import linking

    with Console(stderr=True).status("building five times"):
        rows = linking.link_all(units or (), entry, arch, elements)
    table = linking.table(rows)
    Console().print(table)
    problems = [f"{row['build']}: {row['error']}" for row in rows if row["error"]]
    problems += [f"{row['build']}: {row['check']}" for row in rows if row.get("check", "right") != "right"]
    if problems:
        raise RuntimeError("\n".join(problems))
    save(json_file, [table])


def draw(file: Path | None, figure: Callable[[], Any]) -> None:
    """Write the figure that `figure()` makes to a file, if one was asked for."""
    if file is not None:
        from fourways import figures

        figures.save(figure(), file)


def save(file: Path | None, tables: Sequence) -> None:
    """Write tables to a JSON file, whole or not at all: `{"stamp": {...}, "tables": {name: rows}}`."""
    if file is not None:
        from fourways import environment, files

        content = {"stamp": environment.stamp(), "tables": {table.name: table.rows for table in tables}}
        files.write_text(file, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
