"""GPU architectures: the names that users give them, and which machine code or PTX runs on which GPU."""

import re
from collections.abc import Iterable, Sequence

ARCHITECTURES = ("75", "80", "86", "89", "90", "100", "120")
"""The architectures of `--arch all`, from Turing to Blackwell."""


def architectures(names: Sequence[str]) -> list[str]:
    """Return `["sm_90", ...]` for names such as `90` and `sm_90`, without repetitions; `all` means ARCHITECTURES."""
    every = [each for name in names for each in (ARCHITECTURES if name == "all" else [name])]
    return list(dict.fromkeys(f"sm_{arch.removeprefix('sm_')}" for arch in every))


def runs_on(holds: Iterable[str], arch: str) -> bool:
    """Return whether a GPU of `arch` ("sm_90") runs one of the codes in `holds`.

    Machine code is written "sm_90", PTX "compute_90". Machine code runs on its own minor version and on newer ones of
    the same major version. PTX runs on every newer GPU. Code for "90a" runs on 9.0 alone.
    Source: NVIDIA, CUDA C++ Programming Guide, "Binary Compatibility" and "PTX Compatibility".
    """
    device = int(arch.removeprefix("sm_"))
    for code in holds:
        oldest = int(re.sub(r"\D", "", code))
        if code.endswith("a"):
            newest = oldest
        elif code.startswith("compute") and not code.endswith("f"):
            newest = max(oldest, device)
        else:
            newest = oldest // 10 * 10 + 9
        if oldest <= device <= newest:
            return True
    return False
