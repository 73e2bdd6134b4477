"""The kernel that is meant in a file of several."""

from collections.abc import Sequence
from pathlib import Path

from fourways import building, kernels, toolchain
from fourways.kernels import Signature


def signature_of(path: Path, entry: str | None = None) -> Signature:
    """The signature of the kernel `entry` of a file, or of the only one there. Raises InputError, BuildError."""
    name = entry_of(path, entry)
    return building.signatures(path, [name])[name]


def entry_of(path: Path, entry: str | None, options: Sequence[str] = ()) -> str:
    """The whole name of the kernel meant: by `entry`, or the only one in the file. Raises InputError."""
    return kernels.meant(toolchain.declared(path, options)[0], entry, path.name)
