"""The resources of kernels (registers, memory), as ptxas prints them while it compiles."""

import re
from dataclasses import dataclass

_ENTRY = re.compile(
    r"Compiling entry function '([^']+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
    r".*?Used (\d+) registers(?:[^\n]* (\d+) bytes smem)?",
    re.DOTALL,
)


@dataclass(frozen=True)
class Resources:
    """The resources of an entry point: registers, stack and spills are per thread, static shared memory per block.

    Spills are the bytes of stores and loads together.
    """

    registers: int
    shared_bytes: int
    stack_bytes: int
    spill_bytes: int


def of_log(log: str) -> dict[str, Resources]:
    """Return the resources in the output of `ptxas -v`, by entry point."""
    return {
        name: Resources(int(registers), int(shared or 0), int(stack), int(stores) + int(loads))
        for name, stack, stores, loads, registers, shared in _ENTRY.findall(log)
    }
