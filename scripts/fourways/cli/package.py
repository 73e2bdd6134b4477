"""The command `fourways package`."""

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.tree import Tree

from fourways.cli.options import CaseFile, console, errors, refusing, say, tell


def package(
    kernel: Annotated[Path, typer.Argument(metavar="MY.CU", help="A .cu or .cuh file of your own.")],
    case: CaseFile = None,
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="A folder: new, empty, or made by this command; default: NAME.")
    ] = None,
    entry: Annotated[
        str | None, typer.Option(help="The kernel, if the file holds several; of a template `scale<float, 4>`.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="The name of package, module and function; default: the kernel's name.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite edited files of the package, too.")] = False,
) -> None:
    """Make a package that pip installs of a kernel and its case: `import NAME`, with CuPy arrays or PyTorch tensors.

    `fourways package my.cu --case my_case.py`, for a kernel `softclip`, makes the folder `softclip`. It holds your
    kernel unchanged, a binding that checks every argument before it launches, and a Python function that allocates the
    outputs. It also holds CMake's and pip's files, a README, and tests made from the case, which must have a reference.
    The package does not need Four Ways.

    `fourways package my.cu --case my_case.py --name clip work` calls it `clip`, and makes the folder `work`.

    The function does not ask for a number that an array's shape gives. The command calls the case at three small sizes:
    an integer that equals the same extent at all three is taken from that array. The command prints where each number
    comes from. If two numbers agree by chance, let the case give different ones. If the launch depends on more than the
    size, let `launch` take the other inputs.

    Run the command again to write the package again. It keeps files that you have edited, and names them.

    `pip install ./softclip` builds the package. It needs a C++ compiler, but no GPU; nvcc comes from wheels.
    """
    from fourways import lesson
    from fourways import package as packages
    from fourways.case import Case

    if not case:
        raise typer.BadParameter(
            f"it is missing: fourways case {shlex.quote(str(kernel))} begins one; give it a reference",
            param_hint="--case",
        )
    with errors.status(f"looking at {kernel.name}"):
        mine = Case.load(lesson.kernel_file(str(kernel)), entry, case=case)
        with refusing("--name"):
            name = packages.check_name(name or mine.entry.partition("<")[0].strip())
        folder = folder or Path(name)
        with refusing("DIR"):
            packages.check_folder(folder, name)
        with refusing("--name"):
            interface, kept = packages.write(mine, name, folder, force)
    console.print(_tree(folder))
    for line in interface.told:
        say(line)
    for path in kept:
        tell(f"kept as you edited it: {folder / path}; --force writes over it")
    # without a slash pip looks for it on its index
    here = shlex.quote(str(folder if folder.is_absolute() else f"./{folder}"))
    for command in (
        f"\npip install {here}",
        f"pip install pytest cupy-cuda13x && pytest {here}",
        f"pip wheel {here} --no-deps --wheel-dir dist",
    ):
        say(command)


def _tree(folder: Path, label: str = "") -> Tree:
    """Return a folder and its contents as a tree."""
    tree = Tree(label or str(folder), highlight=False)
    shown = [path for path in folder.iterdir() if not path.name.startswith((".", "__pycache__"))]
    for path in sorted(shown, key=lambda path: (path.is_file(), path.name)):
        tree.add(_tree(path, path.name) if path.is_dir() else path.name)
    return tree
