"""What a kernel needs of the GPU: as ptxas says while it compiles, or as machine code says itself."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from fourways import toolchain


@dataclass(frozen=True)
class Resources:
    """What one entry point needs, by ptxas: registers a thread; bytes of shared memory a block, else a thread."""

    registers: int
    shared_bytes: int
    stack_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int


def of_log(log: str) -> dict[str, Resources]:
    """What `ptxas -v` said about each entry point, by name."""
    found = {}
    for part in log.split("Compiling entry function '")[1:]:

        def number(pattern: str, text: str = part) -> int:
            match = re.search(pattern, text)
            return int(match[1]) if match else 0

        found[part[: part.index("'")]] = Resources(
            registers=number(r"Used (\d+) registers"),
            shared_bytes=number(r"(\d+) bytes smem"),
            stack_bytes=number(r"(\d+) bytes stack frame"),
            spill_store_bytes=number(r"(\d+) bytes spill stores"),
            spill_load_bytes=number(r"(\d+) bytes spill loads"),
        )
    return found


def of_code(file: Path) -> dict[str, Resources]:
    """What machine code says of each function in it, by name: of a cubin, or of a module that holds one.

    It does not tell spills from other stack, and from sm_90 on counts the kilobyte of shared memory that the system
    takes of each block. Raises FileNotFoundError, with the remedy, without cuobjdump.
    """
    tool = toolchain.program("cuobjdump")
    if tool is None:
        raise FileNotFoundError(f"no cuobjdump found, which looks into machine code: {toolchain.SETUP}")
    printed = subprocess.run([str(tool), "-res-usage", str(file)], capture_output=True, text=True).stdout
    found = re.findall(r"Function (\S+):\s+REG:(\d+) STACK:(\d+) SHARED:(\d+)", printed)
    return {name: Resources(int(count), int(shared), int(stack), 0, 0) for name, count, stack, shared in found}
