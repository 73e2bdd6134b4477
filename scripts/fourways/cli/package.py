"""The command that makes a package to ship: `fourways package`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.tree import Tree

from fourways import files
from fourways.cli.options import console, errors, refusing


def package(
    kernel: Annotated[Path, typer.Argument(metavar="MY.CU", help="A .cu or .cuh file of your own.")],
    case: Annotated[
        Path, typer.Option("--case", help="Its case: `make_inputs(size)`, `reference(*inputs)` and, if need be, `launch`.")
    ],
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="A new or empty folder; default: the package's name.")
    ] = None,
    entry: Annotated[
        str | None, typer.Option(help="The kernel, if the file holds several; of a template `scale<float, 4>`.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="What is installed, imported and called; default: the kernel's name.")
    ] = None,
) -> None:
    """Make a package that pip installs of a kernel and its case: `import NAME`, with CuPy arrays or PyTorch tensors.

    `fourways package softclip.cu --case case.py` makes the folder `softclip`. In it are the kernel as it stands, a
    binding that checks every argument before it launches, a Python function that allocates the outputs, CMake's and
    pip's files, tests made from the case, and a README. It needs nothing of Four Ways any more.

    What an array tells is not asked for: the case is called at three small sizes, and an integer that is an extent of
    the same array at all three is taken from it. The command prints what it found; where two numbers agree by chance,
    let the case tell them apart.

    `pip install ./softclip` then builds it; a C++ compiler must be there, nvcc comes from wheels. No GPU is needed.
    """
    from fourways import lesson
    from fourways import package as packages

    with errors.status(f"looking at {kernel.name}"):
        found = lesson.Case(kernel, entry, case=case)
        with refusing("--name"):
            name = packages.check_name(name or found.entry.partition("<")[0].strip())
        folder = folder or Path(name)
        with refusing("DIR"):
            packages.check_folder(folder)
        face = packages.interface(found)
        written = packages.write(found, name, folder)
    console.print(_tree(files.short(folder.absolute()), written))
    for line in face.told:
        console.print(line, markup=False, highlight=False)
    console.print(f"\npip install {folder}", markup=False, highlight=False)
    console.print(f"pip install pytest cupy-cuda13x && pytest {folder}", markup=False, highlight=False)
    console.print(f"pip wheel {folder} --no-deps --wheel-dir dist", markup=False, highlight=False)


def _tree(top: Path, paths: list[str]) -> Tree:
    """The paths as a tree of folders."""
    tree = Tree(str(top), highlight=False)
    branches = {Path(): tree}
    for path in map(Path, paths):
        for part in [*list(path.parents)[-2::-1], path]:
            if part not in branches:
                branches[part] = branches[part.parent].add(part.name)
    return tree
