"""The commands on kernels' files: `fourways build`, `fourways signature`, `fourways link`."""

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
        with options.errors.status(f"compiling {path.name}"):
            mine = options.target(name, entry, case) if case else None
            given = [*(mine.options if mine else ()), *(option or ())]
            built = building.rows(path, archs, given, mine.entry if mine else entry)
        rows += built
        if all(row["not_built"] for row in built):
            failed.append(path.name)
    table = building.table(rows)
    options.console.print(table)
    options.keep(json_file, [table], None, lambda: None)
    if failed:
        raise RuntimeError(f"not built: {', '.join(failed)}")


def signature(
    kernel: options.Kernel,
    entry: Annotated[
        list[str] | None,
        typer.Option(help="Only this kernel, or an instance of a template, as `scale<float, 4>`; several times."),
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", help="For the compiler, e.g. `-o -DREAL=double`.")
    ] = None,
    json_file: options.Json = None,
) -> None:
    """Show the parameters of a file's kernels as the compiler has them: types without typedefs, NumPy's dtypes.

    `fourways signature my.cu` shows all kernels of a file but templates, of which there are as many as instances:
    `fourways signature my.cu --entry "scale<float, 4>"`. Needs no GPU.

    A pointer to const is an input. NVRTC is asked, and nvcc where NVRTC refuses the file.
    """
    from fourways import building, lesson, toolchain

    path = lesson.kernel_file(kernel)
    with options.errors.status(f"asking the compiler about {path.name}"):
        signatures = building.signatures(path, entry or (), option or ())
        there, _ = toolchain.declared(path, option or ())
    table = building.signature_table(building.signature_rows(signatures.values()))
    for each in signatures.values():
        options.say(each)
    if table.rows:  # a kernel without parameters has none
        options.console.print(table)
    if templates := [each.example for each in there.values() if each.template is not None and not entry]:
        options.tell(f"Left out are templates; name an instance with --entry, such as {', '.join(templates)}.")
    options.keep(json_file, [table], None, lambda: None)


def link(
    units: Annotated[list[str] | None, typer.Argument(help="Files, or sources in quotes; default: cpp/link.")] = None,
    entry: Annotated[str, typer.Option(help='The `extern "C"` kernel of these units.')] = "apply_transform",
    build: Annotated[
        list[str] | None,
        typer.Option(
            "--build",
            "-b",
            help="Only this one; several times. `one source`, `PTX, nvJitLink`, `LTO-IR, nvJitLink`, `nvcc -rdc=true` "
            "or `nvcc -dlto`, in quotes.",
        ),
    ] = None,
    arch: Annotated[
        list[str] | None, typer.Option("--arch", "-a", help="E.g. `90`, or `all`; default: the GPU's, else sm_90.")
    ] = None,
    elements: Annotated[int, typer.Option(help="Elements that the kernel is checked and timed on.", min=1)] = 2**26,
    device: Annotated[int | None, typer.Option(help="The GPU that runs it: a CUDA device ordinal.", min=0)] = None,
    case: options.CaseFile = None,
    reference: Annotated[
        str | None, typer.Option(help="What is right: `module.py:function`, of the inputs. Default: see above.")
    ] = None,
    json_file: options.Json = None,
    figure: options.FigureFile = None,
) -> None:
    """Link a program of several files in up to five builds, and show which inlined the call between the files.

    `fourways link` takes the plug-in program of cpp/link: a library's kernel that calls a user's function.
    A call that is left costs registers and time; link-time optimization (LTO) inlines it, as one source does.

    `fourways link --arch all` shows the calls left for seven architectures. No GPU is needed, but only on one (which:
    `--device 1`) is the program checked, against NumPy, and timed.

    `fourways link library.cu my.cu --entry my_kernel --case my_case.py` takes files of your own; `fourways case my.cu`
    begins the case. Without one the inputs are random arrays of one size. All builds must agree with the case's
    reference, or with `--reference expected.py:function`; without either with the first that could be made. NaN is
    never right. A number is a lesson's kernel: `fourways link 1 --entry doublify`.

    `fourways link library.ltoir my.cu --build "LTO-IR, nvJitLink" --entry my_kernel` takes what is compiled already
    (.ptx, .cubin, .ltoir, .fatbin, .o, .a). A build that cannot use it says so in its row; one that fails has its row,
    too, and then the command fails at the end.
    """
    from fourways import lesson, link_builds

    options.one_of(build, list(link_builds.BUILDS), "--build")
    with options.refusing("--device"):
        link_builds.find_gpu(device)
    archs = toolchain.architectures(arch or [])
    files = [str(lesson.kernel_file(unit)) if unit.isdigit() else unit for unit in units or ()]
    with options.errors.status("compiling and linking"):
        rows = link_builds.link_all(files, entry, archs, elements, device, reference, build or (), case)
    table = link_builds.table(rows)
    options.console.print(link_builds.inlining_table(rows) if len(archs) > 1 else table)
    for remark in link_builds.remarks(rows):
        options.tell(remark)
    builds = len({row["build"] for row in rows})
    options.keep(json_file, [table], figure, lambda: link_builds.figure(rows, f"{entry}, linked in {builds} builds"))
    if problems := link_builds.problems(rows):
        raise RuntimeError("\n".join(problems))
