"""The kernels of `cpp/kernels`, and the files that users name."""

import os
from pathlib import Path


class InputError(ValueError):
    """The user named or wrote something unusable; the message says what to mend. Commands end with exit code 2."""


class NotThereError(InputError):
    """A name that means nothing here: no such lesson, no such file."""


def root() -> Path:
    """The folder of the clone: `FOURWAYS_ROOT`, or the one this package lies in, or one above the current folder.

    Raises FileNotFoundError where none of them is a clone of Four Ways.
    """
    named = os.environ.get("FOURWAYS_ROOT")
    candidates = [Path(named)] if named else [Path(__file__).parents[3], Path.cwd(), *Path.cwd().parents]
    for folder in candidates:
        if (folder / "cpp" / "kernels").is_dir():
            return folder.resolve()
    raise FileNotFoundError(
        "no clone of Four Ways found: run this inside a clone, or set FOURWAYS_ROOT to one (it holds cpp/kernels)"
    )


def names() -> list[str]:
    """The names of all kernels, sorted: `["doublify", ...]`."""
    return sorted(path.stem for path in (root() / "cpp" / "kernels").glob("*.cuh"))


def path(name: str) -> Path:
    """The file of kernel `name`. Raises ValueError, naming the kernels there are, if there is no such kernel."""
    file = root() / "cpp" / "kernels" / f"{name}.cuh"
    if not file.is_file():
        raise ValueError(f"no kernel {name!r} in cpp/kernels; there are: {', '.join(names())}")
    return file


def source(name: str) -> str:
    """The text of kernel `name`, as every way compiles it."""
    return path(name).read_text(encoding="utf-8")


def is_file(name: str) -> bool:
    """Whether a user who says `name` means a kernel file, by its ending, rather than a lesson or a kernel."""
    return Path(name).suffix in (".cu", ".cuh")


def check_path(path: Path) -> None:
    """Raise InputError if nvcc cannot be given this path. It calls a shell, which reads signs in the quoted names."""
    for known_as in (path.absolute(), path.resolve()):
        if unfit := sorted({*'"$`\\\n'} & {*str(known_as)}):
            raise InputError(f"{str(known_as)!r}: nvcc takes no path with {' or '.join(map(repr, unfit))}; rename it")


def user_file(name: str) -> Path:
    """The path of a kernel file that a user names. Raises InputError where there is none."""
    if not Path(name).is_file():
        raise NotThereError(f"no file {name}: give the path of a .cu or .cuh, or a lesson's number")
    check_path(Path(name))
    return Path(name)


def text_of(path: Path) -> str:
    """The text of a kernel file: UTF-8, with or without a byte order mark, or else Latin-1, which every text is."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        return path.read_text(encoding="latin-1")
