"""The commands on kernels' files, and those that watch a program run: build, link, package, profile, timeline."""

import shlex
import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from fourways import toolchain
from fourways.cli import options


def build(
    kernels: Annotated[list[str], typer.Argument(help="Lessons or kernels by number or name, or .cu files.")],
    arch: options.Arch = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", help="For the compiler, e.g. `-o -DFACTOR=3`.")
    ] = None,
    entry: Annotated[str | None, typer.Option(help="Whose registers and spills; default: the file's largest.")] = None,
    case: options.CaseFile = None,
    json_file: options.Json = None,
) -> None:
    """Compile kernels by NVRTC and nvcc: seconds, registers, spills, bytes of machine code. Needs no GPU.

    `fourways build 1 my.cu --arch 80 --arch 90` compiles lesson 01's kernel and a file of your own, for two
    architectures. The default is sm_90; `--arch all` takes seven.

    `fourways build my.cu --case my_case.py -o -maxrregcount=32` adds an option to those of your kernel's case.

    If a compiler refuses a kernel, its row says "not built", and its first error stands below the table. The command
    fails if neither compiler builds a kernel.
    """
    from fourways import building, lesson

    archs, rows, failed = toolchain.architectures(arch or ["sm_90"]), [], []
    for name in kernels:
        path = lesson.kernel_file(name)
        with options.errors.status(f"compiling {path.name}"), tempfile.TemporaryDirectory() as folder:
            given = [*(option or ())]
            if case and (mine := lesson.target(name, case).case):
                path, given = mine.source.file(Path(folder)), [*mine.source.all_options, *given]
                entry = mine.kernel.partition("<")[0].rpartition("::")[2]  # the compilers' mangled names may differ
            built = building.rows(path, archs, given, entry)
        rows += built
        if all(row["not_built"] for row in built):
            failed.append(path.name)
    table = building.table(rows)
    options.console.print(table)
    options.keep(json_file, [table])
    if failed:
        raise RuntimeError(f"not built: {', '.join(failed)}")


def link(
    units: Annotated[list[str] | None, typer.Argument(help="Files; default: the plug-in program of cpp/link.")] = None,
    entry: Annotated[str, typer.Option(help='The `extern "C"` kernel of these units.')] = "apply_transform",
    arch: options.Arch = None,
    json_file: options.Json = None,
) -> None:
    """Link a program of several files in five forms, and show the calls that are left between the files.

    `fourways link` takes the plug-in program of cpp/link: a library's kernel that calls a user's function.
    A call that is left costs registers and time; link-time optimization (LTO) inlines it, as one source does. The
    options of `cuda.core` and the commands of nvcc and nvlink are shown.

    `fourways link library.cu my.cu --entry my_kernel` takes files of your own. A number is a lesson's kernel:
    `fourways link 1 --entry doublify`. `--arch all` links for seven architectures. No GPU is needed.
    """
    from fourways import kernels, lesson, linking, tables

    toolchain.activate()
    folder = kernels.root() / "cpp" / "link"
    files = [lesson.kernel_file(unit) if unit.isdigit() else kernels.user_file(unit) for unit in units or ()]
    rows: list[tables.Row] = []
    for each in toolchain.architectures(arch or [toolchain.gpu_arch()]):
        table = linking.compare(files or [folder / "apply_transform.cu", folder / "user_transform.cu"], entry, each)
        rows += [row | {"arch": each} for row in table.rows]
        options.console.print(table)
    options.keep(json_file, [tables.Table("linking", rows)])
    if refused := [f"{row['form']}, {row['arch']}: {row['refused']}" for row in rows if row.get("refused")]:
        raise RuntimeError("\n".join(refused))


def package(
    kernel: Annotated[Path, typer.Argument(metavar="MY.CU", help="A .cu or .cuh file of your own.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder, whose name becomes the package's.")],
    case: Annotated[Path, typer.Option(help="The kernel's case, as `fourways check --help` shows one.")],
) -> None:
    """Make a package that pip installs of a kernel and its case: `import NAME`, with arrays of any GPU library.

    `fourways package my.cu --case my_case.py softclip` writes the folder `softclip`: your kernel unchanged, a binding
    by pybind11, CMake's and pip's files, and a test made from the case. The package needs nothing of Four Ways.

    Its function asks for all that the kernel does, outputs included, for `grid` and `block`, and for `shared` if the
    launch has bytes of shared memory. What it should compute instead, the case says: `derived = {"n": "x.size", "grid":
    "-(-n // 256)", "block": "256", "y": "x.shape"}`. An expression for a number stands for that argument; one for an
    array is the shape that it must have, a tuple such as `(grid,)`. The command compares these expressions with the
    case at up to three of its sizes.

    `pip install ./softclip` builds the package. It needs a C++ compiler, but no GPU; nvcc comes from wheels.
    """
    from fourways import own_kernel, project

    with options.refusing("DIR"):
        project.check_folder(folder)
    with options.errors.status(f"looking at {kernel.name}"):
        project.write(own_kernel.read(kernel, case), folder)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        options.say(path)
    here = folder if folder.is_absolute() else f"./{folder}"  # without a slash pip looks for it on its index
    quoted, tested = shlex.quote(str(here)), shlex.quote(f"{here}[test]")
    options.say(f"\npip install {tested} && pytest {quoted}\npip wheel {quoted} --no-deps --wheel-dir dist")


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
    from fourways import lesson, profiling, ways

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
                program = Path(place, f"{kept.stem}_{way}.py")
                program.write_text(lesson.target(target, case).program(way, elements), encoding="utf-8")
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


def timeline(
    program: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="A Python program, which waits for the GPU at its end.")
    ],
    arguments: Annotated[list[str] | None, typer.Argument(help="The program's arguments.")] = None,
    json_file: options.Json = None,
) -> None:
    """Show when host and GPU did what in a program, recorded by CUPTI: kernels, copies, CUDA calls.

    `fourways timeline program.py` sums up the GPU's work in a Python program of your own, and the gaps between.
    `--json` keeps all that was recorded, NVTX ranges too. It needs a GPU, but no rights to its counters.
    """
    from fourways import timeline
    from fourways.tables import Table

    with options.errors.status(f"recording {program.name}"):
        rows = timeline.record(program, *(arguments or ()))
    table = timeline.table(rows)
    options.console.print(table)
    options.keep(json_file, [table, Table("timeline", rows)])
