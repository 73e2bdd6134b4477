"""What a kernel needs of the GPU: as ptxas says while it compiles, or as machine code says itself."""

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
    """What one entry point needs: registers a thread; bytes of shared memory a block; stack, spills a thread.

    Spills are stores and loads together.
    """

    registers: int
    shared_bytes: int
    stack_bytes: int
    spill_bytes: int


def of_log(log: str) -> dict[str, Resources]:
    """What `ptxas -v` said about each entry point, by name."""
    return {
        name: Resources(int(registers), int(shared or 0), int(stack), int(stores) + int(loads))
        for name, stack, stores, loads, registers, shared in _ENTRY.findall(log)
    }


def of_code(file: Path) -> dict[str, Resources]:
    """What machine code says of each function in it, by name: of a cubin, or of a module that holds one.

    It does not tell spills from other stack, and from sm_90 on counts the kilobyte of shared memory that the system
    takes of each block. Raises FileNotFoundError, with the remedy, without cuobjdump.
    """
    tool = toolchain.program("cuobjdump")
    if tool is None:
        raise FileNotFoundError(f"no cuobjdump found, which looks into machine code: {toolchain.SETUP}")
    printed = toolchain.run(str(tool), "-res-usage", str(file)).stdout
    found = re.findall(r"Function (\S+):\s+REG:(\d+) STACK:(\d+) SHARED:(\d+)", printed)
    return {name: Resources(int(count), int(shared), int(stack), 0) for name, count, stack, shared in found}
