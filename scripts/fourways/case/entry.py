"""The kernel that is meant in a file of several."""

from pathlib import Path

from fourways import building, kernels
from fourways.case.file import CaseError
from fourways.kernels import Signature


def signature_of(path: Path, entry: str | None = None) -> Signature:
    """The signature of the kernel `entry` of a file, or of the only one there. Raises CaseError, BuildError."""
    name = entry_of(path, entry)
    return building.signatures(path, [name] if entry else ())[name]


def entry_of(path: Path, entry: str | None) -> str:
    """The name of the kernel meant: `entry`, or the only one in the file. Raises CaseError."""
    there = kernels.parameters(path.read_text(encoding="utf-8"))
    if not there:
        raise CaseError(f"{path.name} holds no kernel: no `__global__ void` function")
    name = entry or (next(iter(there)) if len(there) == 1 else "")
    if name.partition("<")[0].strip() not in there:
        problem = f"no kernel {entry!r} in" if entry else "--entry must name the kernel to take from"
        raise CaseError(f"{problem} {path.name}; there are: {', '.join(there)}")
    return name
