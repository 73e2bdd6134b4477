"""The command `fourways case`."""

from pathlib import Path
from typing import Annotated

import typer

from fourways.cli.options import CaseFile, Entry, console, one_of, tell, writable


def case(
    kernel: Annotated[str, typer.Argument(help="A .cu or .cuh file of your own.")],
    entry: Entry = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write; default: my_case.py beside my.cu.", callback=writable),
    ] = None,
    way: Annotated[
        str | None,
        typer.Option("--way", "-w", help="Show how nvrtc, nvcc, pycuda or host calls the kernel; write nothing."),
    ] = None,
    case_file: CaseFile = None,
) -> None:
    """Begin a case: the small Python file that says what a kernel of your own is called with, and what is right.

    `fourways case my.cu` writes my_case.py from the kernel's signature, as the compiler has it. For a kernel whose
    arrays all have `size` elements, an element a thread, it is ready: `fourways check my.cu --case my_case.py`. Then
    give it the inputs that you mean, and the right answer by NumPy; until then the host way judges.

    `fourways case my.cu --case my_case.py --way pycuda` shows the code that calls the kernel in that way, to be copied.

    What a case may define: make_inputs, reference, launch, options, rtol, atol, sizes, size, outputs, in_place.
    """
    from fourways import files, lesson

    if way:
        one_of([way], [each for each in lesson.WAYS if each != "pybind11"], "--way")
        return print(lesson.cell(lesson.Case(kernel, entry, case_file), way), end="")
    if case_file:
        raise typer.BadParameter(
            "it is for --way; without, a case is written: name it by --output", param_hint="--case"
        )
    path = lesson.kernel_file(kernel)
    target = output or path.with_name(f"{path.stem}_case.py")
    if target.exists():
        raise typer.BadParameter(f"{target} is there already: name another, or remove it", param_hint="--output")
    signature = lesson.signature_of(path, entry)
    files.write_text(writable(target) or target, lesson.skeleton(signature))
    console.print(str(signature), markup=False, highlight=False, soft_wrap=True)
    tell(f"written: {files.short(target)}; next: fourways check {kernel} --case {files.short(target)}")
