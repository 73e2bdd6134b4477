"""A race between blocks, in words: both accesses with their lines in the kernel."""

import linecache
import shutil
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from fourways import files, kernels, toolchain
from fourways.host.arrays import Layout
from fourways.host.faults import nearest
from fourways.host.launch import Launch, coordinates

_RACE = struct.Struct("12q")  # `Race` of cpp/host/between_blocks.hpp
_KIND = struct.pack("q", -1)
_ORDER = (
    "Blocks run in any order, or at once: let one block alone write an element, or use atomicAdd and its like; "
    "an atomic flag orders what another block wrote only if __threadfence() stands before it."
)
SAME = (
    "Both wrote the same value, as in every race that was seen, so the answer does not depend on the order of the "
    "blocks. To say that this is meant, write with atomicExch, or same_value_races = True into the kernel's case."
)


class _Access(NamedTuple):
    code: int
    deed: int  # 1: writes; 2: atomic
    thread: int
    block: int


def is_race(report: bytes) -> bool:
    """Whether the program reports a race, rather than a fault."""
    return report.startswith(_KIND)


def explain_race(report: bytes, launch: Launch, layout: Layout, program: Path) -> str:
    """Say which array element two blocks access, and by which lines of the kernel that `program` was compiled from."""
    _, memory, offset, *numbers, is_of_one_value = _RACE.unpack(report)
    later, earlier = _Access(*numbers[:4]), _Access(*numbers[4:8])
    name, array, element = nearest(memory, offset, launch, layout)
    advice = SAME if is_of_one_value else _ORDER
    return "\n".join(
        [
            f"A race between blocks, at element {element} of {name}, which has {array.size}. No array was changed.",
            *_lines(later, launch, program),
            *_lines(earlier, launch, program),
            advice,
        ]
    )


def _lines(access: _Access, launch: Launch, program: Path) -> list[str]:
    thread, block = coordinates(access.thread, launch.shape[3:]), coordinates(access.block, launch.shape[:3])
    deed = "written" if access.deed & 1 else "read"
    atomic = ", atomically" if access.deed & 2 else ""
    return [*_source(access.code, program), f"    {deed} by thread {thread} of block {block}{atomic}"]


def _source(code: int, program: Path) -> list[str]:
    """The kernel's line that an instruction belongs to, or nothing where no tool tells."""
    tool = shutil.which("addr2line") or shutil.which("llvm-addr2line")
    if not tool:
        return ["  (which line it is, addr2line tells: install binutils)"]
    said = toolchain.run(tool, "-i", "-e", program, hex(code - 1)).stdout
    line = in_kernel(place.split(" (")[0].rpartition(":")[::2] for place in said.splitlines())
    return [line] if line else []


def in_kernel(places: Iterable[Sequence[str]]) -> str | None:
    """The first of these places (path, line number) that lies in a kernel file, with its line."""
    for path, number in places:
        if kernels.is_file(path) and number.isdigit():
            return f"  {files.short(Path(path))}:{number}: {linecache.getline(path, int(number)).strip()}"
    return None
