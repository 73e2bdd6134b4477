"""The command `fourways package`."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from fourways.cli.options import errors, refusing, say


def package(
    kernel: Annotated[Path, typer.Argument(metavar="MY.CU", help="A .cu or .cuh file of your own.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder, whose name becomes the package's.")],
    case: Annotated[Path, typer.Option(help="The kernel's case, as `fourways check --help` shows one.")],
) -> None:
    """Make a package that pip installs of a kernel and its case: `import NAME`, with arrays of any GPU library.

    `fourways package my.cu --case my_case.py softclip` writes the folder `softclip`: your kernel unchanged, a binding
    by pybind11, CMake's and pip's files, and a test made from the case. The package needs nothing of Four Ways.

    Its function asks for all that the kernel does, outputs included, and for `grid` and `block`. What it should compute
    instead, the case says: `derived = {"n": "x.size", "grid": "-(-n // 256)", "block": "256", "y": "x.shape"}`. An
    expression for a number stands for that argument; one for an array is the shape that it must have. The command
    compares these expressions with the case at up to three of its sizes.

    `pip install ./softclip` builds the package. It needs a C++ compiler, but no GPU; nvcc comes from wheels.
    """
    from fourways import own_kernel, project

    with refusing("DIR"):
        project.check_folder(folder)
    with errors.status(f"looking at {kernel.name}"):
        project.write(own_kernel.read(kernel, case), folder)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        say(path)
    here = folder if folder.is_absolute() else f"./{folder}"  # without a slash pip looks for it on its index
    quoted, tested = shlex.quote(str(here)), shlex.quote(f"{here}[test]")
    say(f"\npip install {tested} && pytest {quoted}\npip wheel {quoted} --no-deps --wheel-dir dist")
