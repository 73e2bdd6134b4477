"""The resources of kernels (registers, memory), as ptxas prints them while it compiles, or read from machine code."""

import re
from dataclasses import dataclass
from pathlib import Path

from fourways import toolchain

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


def of_code(file: Path) -> dict[str, Resources]:
    """Return the resources of each function in a cubin, or in a module that holds one, by name.

    Machine code does not tell spills from other stack, so `spill_bytes` is 0. From sm_90 on, shared memory includes
    the kilobyte that the system takes in each block. Raises FileNotFoundError, with the remedy, without cuobjdump.
    """
    tool = toolchain.program("cuobjdump")
    if tool is None:
        raise FileNotFoundError(f"no cuobjdump found, which looks into machine code: {toolchain.SETUP}")
    printed = toolchain.run(str(tool), "-res-usage", str(file)).stdout
    functions = re.findall(r"Function (\S+):\s+REG:(\d+) STACK:(\d+) SHARED:(\d+)", printed)
    return {name: Resources(int(count), int(shared), int(stack), 0) for name, count, stack, shared in functions}
