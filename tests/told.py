"""The signatures of a file's kernels, each as a compiler tells it."""

from collections.abc import Sequence
from pathlib import Path

from fourways import building, kernels, toolchain


def signatures(path: Path, entries: Sequence[str] = (), options: Sequence[str] = ()) -> dict[str, kernels.Signature]:
    there, _ = toolchain.declared(path, options)
    chosen = entries or [name for name, kernel in there.items() if kernel.template is None] or [""]
    return {entry: building.told(path, kernels.meant(there, entry, path.name), options).signature for entry in chosen}
