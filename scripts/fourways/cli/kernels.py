"""The commands on kernels' files: `fourways build`, `fourways link`."""

import tempfile
from pathlib import Path
from typing import Annotated

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
            if case:
                mine = options.target(name, case).case
                path, given = mine.source.file(Path(folder)), [*mine.source.all_options, *given]
                entry = mine.kernel.partition("<")[0].rpartition("::")[2]  # the compilers' mangled names may differ
            built = building.rows(path, archs, given, entry)
        rows += built
        if all(row["not_built"] for row in built):
            failed.append(path.name)
    table = building.table(rows)
    options.console.print(table)
    options.keep(json_file, [table], None, lambda: None)
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

    folder = kernels.root() / "cpp" / "link"
    files = [lesson.kernel_file(unit) if unit.isdigit() else kernels.user_file(unit) for unit in units or ()]
    rows: list[tables.Row] = []
    for each in toolchain.architectures(arch or [toolchain.gpu_arch()]):
        table = linking.compare(files or [folder / "apply_transform.cu", folder / "user_transform.cu"], entry, each)
        rows += [row | {"arch": each} for row in table.rows]
        options.console.print(table)
    options.keep(json_file, [tables.Table("linking", rows)], None, lambda: None)
    if refused := [f"{row['form']}, {row['arch']}: {row['refused']}" for row in rows if row.get("refused")]:
        raise RuntimeError("\n".join(refused))
