"""The catalogue of `cpp/kernels`: where a kernel's file is, its text, and the functions in it."""

import os
import re
from pathlib import Path

_BOUNDS = r"(?:__(?:launch_bounds|cluster_dims|maxnreg)__\s*\((?:[^()]|\([^()]*\))*\)\s*)*"
_ENTRY = re.compile(
    rf"{_BOUNDS}__global__\s+{_BOUNDS}void\s+{_BOUNDS}(\w+)\s*\(((?:[^()]|\([^()]*\))*)"  # float (*q)[4] is one
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def root() -> Path:
    """The folder of the clone: `FOURWAYS_ROOT`, or the one this package lies in, or one above the current folder.

    Raises FileNotFoundError where none of them is a clone of Four Ways.
    """
    named = os.environ.get("FOURWAYS_ROOT")
    candidates = [Path(named)] if named else [Path(__file__).parents[2], Path.cwd(), *Path.cwd().parents]
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
    found = root() / "cpp" / "kernels" / f"{name}.cuh"
    if not found.is_file():
        raise ValueError(f"no kernel {name!r} in cpp/kernels; there are: {', '.join(names())}")
    return found


def source(name: str) -> str:
    """The text of kernel `name`, as every way compiles it."""
    return path(name).read_text(encoding="utf-8")


def parameters(text: str) -> dict[str, str]:
    """The parameters of each `__global__` function in a source text, as they are written there, by its name, in order.

    Comments do not count.
    """
    return {name: " ".join(found.split()) for name, found in _ENTRY.findall(_COMMENT.sub(" ", text))}


def is_file(name: str) -> bool:
    """Whether a user who says `name` means a kernel file, by its ending, rather than a lesson or a kernel."""
    return Path(name).suffix in (".cu", ".cuh")
