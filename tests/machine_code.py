"""The instructions that a compiler makes of a kernel, as nvdisasm prints them."""

import re
import subprocess
import tempfile
from pathlib import Path

from fourways import toolchain


def instructions(cubin: bytes) -> list[tuple[str, str]]:
    """Return the opcode and the operands of each instruction."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "kernel.cubin")
        file.write_bytes(cubin)
        command = [str(toolchain.program("nvdisasm")), "-c", str(file)]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return re.findall(r"/\*[0-9a-f]+\*/\s+(?:@!?\w+\s+)?([A-Z][\w.]*)\s*([^;]*?)\s*;", printed)
