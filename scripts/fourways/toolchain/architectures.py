"""GPU architectures: what a user calls them, and which machine code or PTX runs on which GPU."""

import re
from collections.abc import Iterable, Sequence

ARCHITECTURES = ("75", "80", "86", "89", "90", "100", "120")
"""What `--arch all` means: Turing to Blackwell."""


def architectures(names: Sequence[str]) -> list[str]:
    """`["sm_75", ...]` from `90`, `sm_90`, or `all` for every one of ARCHITECTURES; each once."""
    every = [found for name in names for found in (ARCHITECTURES if name == "all" else [name])]
    return list(dict.fromkeys(f"sm_{arch.removeprefix('sm_')}" for arch in every))


def runs_on(holds: Iterable[str], arch: str) -> bool:
    """Whether one of these codes runs on a GPU of `arch`: machine code as "sm_90", PTX as "compute_90".

    Machine code runs on its major version from its minor on, PTX on anything newer, code for "90a" on 9.0 alone.
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
