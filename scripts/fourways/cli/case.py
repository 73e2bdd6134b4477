"""The command `fourways case`."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from fourways.cli.options import CaseFile, Entry, one_of, say, tell, writable


def case(
    kernel: Annotated[str, typer.Argument(help="A .cu or .cuh file of your own.")],
    entry: Entry = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write; default: my_case.py beside my.cu.", callback=writable),
    ] = None,
    way: Annotated[
        str | None,
        typer.Option(
            "--way", "-w", help="Show how a way (nvrtc, nvcc, pycuda, pybind11, host) calls the kernel; write nothing."
        ),
    ] = None,
    case_file: CaseFile = None,
) -> None:
    """Begin a case: the small Python file with the inputs and the right answer of a kernel of your own.

    `fourways case my.cu` writes my_case.py from the kernel's signature, as the compiler has it. If all arrays have
    `size` elements, with one thread for each, the case is ready: `fourways check my.cu --case my_case.py`. Then write
    your own inputs, and the right answer by NumPy. Until then the host way gives the right answer.

    `fourways case my.cu --case my_case.py --way pycuda` shows the code that calls the kernel in that way, for copying.

    A case defines `make_inputs`, and any of the others that it needs:

    - `make_inputs(size)`: the kernel's arguments in their order, without outputs and the size
    - `reference(*inputs)`: the right output, or a tuple of them
    - `launch(size)`: grid, block and, if any, bytes of dynamic shared memory; default: one thread per element;
      `launch(size, x, k)` also takes the inputs `x` and `k`, so that it can use `x.shape`
    - `options = ("-DTAPS=8",)`: options for the compilers
    - `rtol, atol = 1e-6, 1e-7`: an answer may differ by `atol + rtol * abs(right)`; default 1e-5 and 0
    - `sizes = (1, 33, 1000)`: the sizes to check
    - `size = "n"`: the parameter that takes the size, if several could
    - `outputs = ("y",)`: the outputs, if the kernel only reads a pointer that is not to const
    - `in_place = ("u",)`: outputs that are read, too; `make_inputs` gives their first contents

    For a pointer to a CUDA vector type, the last axis of the array holds an element's numbers: `float4 *` takes an
    array of float32 of shape `(size, 4)`. For `float2` and `double2`, arrays of complex numbers are accepted, too.
    """
    from fourways import files, kernels, lesson
    from fourways.case import Case, signature_of, skeleton
    from fourways.ways import WAYS, launch_text

    if way:
        one_of([way], tuple(WAYS), "--way")
        mine = Case.load(lesson.kernel_file(kernel), entry, case_file)
        text = WAYS[way].cell(mine)
        return print(f"{launch_text(mine)}\n\n{text}" if "launch(" in text else text, end="")
    if case_file:
        raise typer.BadParameter(
            "it goes with --way; without --way a case is written, and --output names it", param_hint="--case"
        )
    if not kernels.is_file(kernel):
        raise typer.BadParameter(f"{kernel}: give the path of a .cu or .cuh file of your own", param_hint="KERNEL")
    path = lesson.kernel_file(kernel)
    target = output or path.with_name(f"{path.stem}_case.py")
    if target.exists():
        raise typer.BadParameter(f"{target} is there already: name another, or remove it", param_hint="--output")
    signature = signature_of(path, entry)
    files.write_text(writable(target) or target, skeleton(signature, kernels.text_of(path)))
    say(signature)
    written = files.short(target)
    chosen = ["--entry", entry] if entry else []
    tell(f"written: {written}; next: {shlex.join(['fourways', 'check', kernel, *chosen, '--case', str(written)])}")
