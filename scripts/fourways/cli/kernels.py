"""The commands on the machine code of kernels: `fourways build`, `fourways sass`, `fourways link`."""

from typing import Annotated

import typer

from fourways import toolchain
from fourways.cli import options


def build(
    kernel: options.Kernel,
    compiler: Annotated[
        list[str] | None, typer.Option("--compiler", "-c", help="Only this one; several times.")
    ] = None,
    arch: options.Arch = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", help="For the compiler, e.g. `-o -DFACTOR=3`.")
    ] = None,
    entry: Annotated[str | None, typer.Option(help="What this one needs; default: the hungriest in the file.")] = None,
    case: options.CaseFile = None,
    json_file: options.Json = None,
    figure: options.FigureFile = None,
) -> None:
    """Compile a kernel by every compiler: seconds cold and cached, bytes, registers, spills. Needs no GPU.

    `fourways build 1` takes lesson 01's kernel, for sm_90, by NVRTC, nvcc, PyCUDA, cuda.core and CMake.

    `fourways build my.cu --arch all --json builds.json` takes a file of your own, for seven architectures. The last
    table says which artefact runs on which GPU.

    `fourways build my.cu --case my_case.py` builds your kernel with its case's options, and by CMake with a binding as
    `fourways package` writes it.

    `fourways build my.cu --entry my_kernel -c nvrtc -o -maxrregcount=32` shows what an option does to one kernel;
    `fourways build 1 --figure builds.svg` draws the seconds.

    A compiler that refuses the kernel has a row that is not built, with its first error below the table; the others
    go on. The command fails where none could build it.
    """
    from fourways import building, lesson, package
    from fourways.ways import WAYS

    own = {name: way.make for name, way in WAYS.items() if way.make}
    known = [*building.ALL_COMPILERS, *own]
    options.one_of(compiler, known, "--compiler")
    path, archs = lesson.kernel_file(kernel), toolchain.architectures(arch or ["sm_90"])
    names = compiler or known
    with options.errors.status(f"compiling {path.name}") as status:
        mine = options.target(kernel, entry, case) if case else None
        given = [*(mine.options if mine else ()), *(option or ())]
        binding = package.builder(mine) if mine and "cmake" in names else None
        tell_what = lambda what: status.update(f"compiling {what}")  # noqa: E731
        rows = building.rows(path, names, archs, given, mine.entry if mine else entry, tell_what, binding, own)
    table, runs_on = building.table(rows), building.runs_on(archs)
    matrix = [building.matrix_table(rows)] if len(archs) > 1 else []
    options.console.print(table, building.sizes_table(rows), *matrix, runs_on)
    options.keep(json_file, [table, runs_on], figure, lambda: building.figure(rows))


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
    from fourways import building, lesson

    path = lesson.kernel_file(kernel)
    with options.errors.status(f"asking the compiler about {path.name}"):
        signatures = building.signatures(path, entry or (), option or ())
    table = building.signature_table(building.signature_rows(signatures.values()))
    for each in signatures.values():
        options.say(each)
    options.console.print(table)
    options.keep(json_file, [table], None, lambda: None)


def sass(
    kernel: options.Kernel,
    way: Annotated[
        list[str] | None, typer.Option("--way", "-w", help="A way, options of your own after it; two ways for a diff.")
    ] = None,
    arch: Annotated[list[str] | None, typer.Option("--arch", "-a", help="Default sm_90; two for a diff.")] = None,
    entry: Annotated[str | None, typer.Option(help="Only this function; default: all in the file.")] = None,
    case: options.CaseFile = None,
    rename: Annotated[bool, typer.Option("--rename", help="A diff that ignores which registers were chosen.")] = False,
    json_file: options.Json = None,
    figure: options.FigureFile = None,
) -> None:
    """Show the machine code (SASS) that the ways make of a kernel. Needs no GPU.

    `fourways sass 1` counts the instructions of lesson 01's kernel by kind, for every way;
    `fourways sass 1 --arch all --figure counts.svg` does so for seven architectures and draws it.

    `fourways sass 1 -w nvrtc` lists them. `fourways sass 1 -w nvrtc -w pycuda` puts two ways side by side, then builds
    the second again, one option changed, then two, until it is the first: those make the difference. Of equal machine
    code it says so and lists nothing. A way whose compiler refuses the kernel is named with the reason, and the
    others go on; the command fails where all refuse.

    `fourways sass my.cu --case my_case.py` builds your kernel with its case's options.

    `fourways sass my.cu --entry my_kernel -w pycuda -w "pycuda --fmad=false"` shows what an option does to your kernel;
    `fourways sass 1 -w nvrtc --arch 80 --arch 90` what an architecture does.
    """
    from fourways import lesson
    from fourways import sass as machine_code

    path, archs = lesson.kernel_file(kernel), toolchain.architectures(arch or ["sm_90"])
    mine = options.target(kernel, entry, case) if case else None
    if mine:
        entry = entry or mine.entry
    with options.refusing("--way"):
        listings, refused = machine_code.listings(path, way or (), archs, entry, mine.options if mine else ())
    if way and len(listings) == 1 and not refused:
        print(*listings[0], sep="\n", end="\n\n")
    if way and len(listings) == 2:
        one, other = listings
        if (differing := machine_code.diff(one, other, rename)).differences:
            print(differing, end="\n\n")
        elif rename:
            print("With registers renamed, the machine code is the same.\n")
        print(machine_code.explain(one, other))
    table = machine_code.counts(listings, refused)
    options.console.print(table)
    options.keep(
        json_file, [table], figure, lambda: machine_code.figure(table.rows, f"{path.name}: instructions by kind")
    )


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
    from fourways import lesson, linking

    options.one_of(build, list(linking.BUILDS), "--build")
    with options.refusing("--device"):
        linking.find_gpu(device)
    archs = toolchain.architectures(arch or [])
    files = [str(lesson.kernel_file(unit)) if unit.isdigit() else unit for unit in units or ()]
    with options.errors.status("compiling and linking"):
        rows = linking.link_all(files, entry, archs, elements, device, reference, build or (), case)
    table = linking.table(rows)
    options.console.print(linking.inlining_table(rows) if len(archs) > 1 else table)
    for remark in linking.remarks(rows):
        options.tell(remark)
    builds = len({row["build"] for row in rows})
    options.keep(json_file, [table], figure, lambda: linking.figure(rows, f"{entry}, linked in {builds} builds"))
    if problems := linking.problems(rows):
        raise RuntimeError("\n".join(problems))
