"""The commands on single kernels: `fourways build` and its relatives. As in `cli`: parse, call, print."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console


def writable(file: Path | None) -> Path | None:
    """Refuse a file that cannot be written, before anything is measured."""
    from fourways import files

    try:
        return file and files.check_writable(file)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def drawable(file: Path | None) -> Path | None:
    """Refuse a figure that cannot be written, before anything is measured."""
    from fourways import figures

    try:
        return writable(file and figures.check_suffix(file))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


Kernel = Annotated[str, typer.Argument(help="A lesson's number, a kernel's name, or a path to a .cu or .cuh file.")]
Arch = Annotated[list[str] | None, typer.Option("--arch", "-a", help="As `90` or `sm_90`, or `all`; several times.")]
Option = Annotated[list[str] | None, typer.Option("--option", "-o", help="For the compiler, e.g. `-o -DFACTOR=3`.")]
Compiler = Annotated[list[str] | None, typer.Option("--compiler", "-c", help="Only this one; several times.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write the rows here as JSON, too.", callback=writable)]
FigureFile = Annotated[
    Path | None, typer.Option("--figure", help="Draw it: the .svg or .png file to write.", callback=drawable)
]


def build(
    kernel: Kernel,
    compiler: Compiler = None,
    arch: Arch = None,
    option: Option = None,
    entry: Annotated[str | None, typer.Option(help="What this one needs; default: the hungriest in the file.")] = None,
    json_file: Json = None,
    figure: FigureFile = None,
) -> None:
    """Compile a kernel by every compiler: seconds cold and cached, bytes, registers, spills. Needs no GPU.

    `fourways build 1` takes lesson 01's kernel, for sm_90, by NVRTC, nvcc, PyCUDA, cuda.core and CMake.

    `fourways build my.cu --arch all --json builds.json` takes a file of your own, for seven architectures. The last
    table says which artefact runs on which GPU.

    `fourways build my.cu --entry mine -c nvrtc -o -maxrregcount=32` shows what an option does to one kernel;
    `fourways build 1 --figure builds.svg` draws the seconds.
    """
    from fourways import builds, compilers, lesson

    if wrong := [name for name in compiler or [] if name not in compilers.COMPILERS]:
        raise typer.BadParameter(f"{wrong[0]!r}; choose from {', '.join(compilers.COMPILERS)}", param_hint="--compiler")
    path, archs = lesson.kernel_file(kernel), builds.architectures(arch or ["sm_90"])
    names = compiler or compilers.COMPILERS
    with Console(stderr=True).status(f"compiling {path.name}") as status:
        found = builds.rows(
            path, names, archs, option or [], entry, lambda what: status.update(f"compiling {path.name}: {what}")
        )
    tables = [builds.table(found), builds.sizes_table(found), builds.runs_on(archs)]
    if len(archs) > 1:
        tables.insert(2, builds.matrix_table(found))
    for table in tables:
        Console().print(table)
    draw(figure, lambda: builds.figure(found))
    save(json_file, [table for table in tables if table.name in ("build", "runs_on")])


def sass(
    kernel: Kernel,
    way: Annotated[
        list[str] | None, typer.Option("--way", "-w", help="A way, options of your own after it; two ways for a diff.")
    ] = None,
    arch: Annotated[list[str] | None, typer.Option("--arch", "-a", help="Default sm_90; two for a diff.")] = None,
    entry: Annotated[str | None, typer.Option(help="Only this function; default: all in the file.")] = None,
    rename: Annotated[bool, typer.Option("--rename", help="A diff that ignores which registers were chosen.")] = False,
    json_file: Json = None,
    figure: FigureFile = None,
) -> None:
    """Show the machine code (SASS) that the ways make of a kernel. Needs no GPU.

    `fourways sass 1` counts the instructions of lesson 01's kernel by kind, for every way;
    `fourways sass 1 --arch all --figure counts.svg` does so for seven architectures and draws it.

    `fourways sass 1 -w nvrtc` lists them. `fourways sass 1 -w nvrtc -w pycuda` puts two ways side by side, then builds
    the second again, one option changed at a time, until it is the first: that option makes the difference.

    `fourways sass my.cu --entry mine -w pycuda -w "pycuda --fmad=false"` shows what an option does to your kernel;
    `fourways sass 1 -w nvrtc --arch 80 --arch 90` what an architecture does.
    """
    from fourways import builds, lesson
    from fourways import sass as machine_code

    ways, archs = way or list(machine_code.WAYS), builds.architectures(arch or ["sm_90"])
    if wrong := [name for name in ways if name.split()[:1] not in [[known] for known in machine_code.WAYS]]:
        raise typer.BadParameter(f"{wrong[0]!r}; choose from {', '.join(machine_code.WAYS)}", param_hint="--way")
    path = lesson.kernel_file(kernel)
    try:
        table = machine_code.counts(path, ways, archs, entry)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--way") from None
    sides = [(one, other) for one in ways for other in archs] if way else []
    if len(sides) == 1:
        print(*machine_code.listing(path, *sides[0], entry), sep="\n", end="\n\n")
    if len(sides) == 2:
        (way_a, arch_a), (way_b, arch_b) = sides
        one, other = (machine_code.listing(path, *side, entry) for side in sides)
        print(machine_code.diff(one, other, rename), end="\n\n")
        print(machine_code.explain(path, way_a, way_b, arch_a, arch_b, entry))
    Console().print(table)
    draw(figure, lambda: machine_code.figure(table.rows, f"{path.name}: instructions by kind"))
    save(json_file, [table])


def link(
    units: Annotated[list[str] | None, typer.Argument(help="Files, or sources in quotes; default: cpp/link.")] = None,
    entry: Annotated[str, typer.Option(help='The `extern "C"` kernel of these units.')] = "apply_transform",
    arch: Annotated[
        list[str] | None, typer.Option("--arch", "-a", help="E.g. `90`, or `all`; default: the GPU's, else sm_90.")
    ] = None,
    elements: Annotated[int, typer.Option(help="Elements that the kernel is checked and timed on.", min=1)] = 2**26,
    device: Annotated[int | None, typer.Option(help="The GPU that runs it: a CUDA device ordinal.", min=0)] = None,
    reference: Annotated[
        str | None, typer.Option(help="What is right: `module.py:function`, of the NumPy array x. Default: see above.")
    ] = None,
    json_file: Json = None,
    figure: FigureFile = None,
) -> None:
    """Link a program of several files in five builds, and show which of them inlined the call between the files.

    `fourways link` takes the plug-in program of cpp/link: a library's kernel that calls a user's function.
    A call that is left costs registers and time; link-time optimization (LTO) inlines it, as one source does.

    `fourways link --arch all` shows the calls left for seven architectures. No GPU is needed, but only on one (which:
    `--device 1`) is the program checked, against NumPy, and timed.

    `fourways link library.cu mine.cu --entry my_kernel` takes files of your own. A GPU runs them if the kernel is
    `my_kernel(const float* x, float* y, long long n)` and writes all n elements of y. All builds must then agree with
    the one-source build, or with `--reference expected.py:function`. NaN is never right. A number is a lesson's kernel:
    `fourways link 1 --entry doublify`.
    """
    from fourways import builds, lesson, linking

    try:
        linking.find_gpu(device)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--device") from None
    archs = builds.architectures(arch or [])
    files = [str(lesson.kernel_file(unit)) if unit.isdigit() else unit for unit in units or ()]
    with Console(stderr=True).status("building five times"):
        rows = linking.link_all(files, entry, archs, elements, device, reference)
    table = linking.table(rows)
    Console().print(linking.inlining_table(rows) if len(archs) > 1 else table)
    if problems := linking.problems(rows):
        raise RuntimeError("\n".join(problems))
    draw(figure, lambda: linking.figure(rows, f"{entry}, linked in five ways"))
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
