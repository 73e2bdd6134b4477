"""Messages about the faults of a kernel, and about races between blocks, with their lines in the kernel."""

import linecache
import shutil
import signal
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fourways import files, kernels, toolchain
from fourways.host.arrays import Layout
from fourways.host.launch import Launch, coordinates

_STACK, _VARIABLES = -2, -3  # a fault's memory, where it is the stack or lies behind variables; -1: none that is known

_RACE = struct.Struct("12q")  # `Race` of cpp/host/between_blocks.hpp
_KIND = struct.pack("q", -1)
_ORDER = (
    "Blocks run in any order, or at once: let one block alone write an element, or use atomicAdd and its like; "
    "an atomic flag orders what another block wrote only if __threadfence() stands before it."
)
SAME = (
    "Both wrote the same value, as in every race that was seen, so the answer does not depend on the order of the "
    "blocks. To say that this is meant, write with atomicExch."
)


class _Fault(NamedTuple):
    """The same as `Fault` of cpp/host/process.cpp: the signal, the access, the memory, the thread and the block."""

    signal: int  # 0: none, but bytes beside an array have changed
    writes: int  # 1: writes, 0: reads, -1: the machine does not tell
    memory: int
    offset: int
    finished: int
    thread: tuple[int, ...]
    block: tuple[int, ...]


def explain(report: bytes, launch: Launch, layout: Layout, said: str) -> str:
    """Return the message about the thread's fault, which changed no array; `said` is the program's standard error."""
    number, writes, memory, offset, finished, *places = struct.unpack("11q", report)
    fault = _Fault(number, writes, memory, offset, finished, tuple(places[:3]), tuple(places[3:]))
    deed = _deed(fault, launch, layout)
    return f"{deed}{'' if deed.endswith('?') else '.'} No array was changed.\n{said}".rstrip()


def _deed(fault: _Fault, launch: Launch, layout: Layout) -> str:
    who = f"thread {fault.thread} of block {fault.block} of {launch.name}"
    if fault.signal == 0:
        return f"a thread of {launch.name} writes {_place(fault, launch, layout)}"
    if fault.signal in (signal.SIGSEGV, signal.SIGBUS):
        if fault.memory == _STACK:
            return f"{who} overflows its stack, by a recursion without an end or by too large a local array"
        access = {0: "reads", 1: "writes"}.get(fault.writes, "reads or writes")
        return f"{who} {access} {_place(fault, launch, layout)}"
    if fault.signal == signal.SIGFPE:
        return f"{who} divides a whole number by zero, or the smallest by -1; on a GPU the result is undefined"
    if fault.signal == signal.SIGXFSZ:
        return f"{who} prints more, after this launch has printed 1 MB"
    if fault.signal == signal.SIGALRM:
        block = coordinates(fault.finished, launch.shape[:3])
        one = f"thread {fault.thread} of block {block}" if fault.thread[0] >= 0 else f"block {block}"
        return f"{one} of {launch.name} was not done after {launch.seconds} s and was stopped: does a loop never end?"
    return f"{who} ended the program, as assert and __trap do ({signal.Signals(fault.signal).name})"


def _place(fault: _Fault, launch: Launch, layout: Layout) -> str:
    if fault.memory == len(layout.spans):
        return f"byte {fault.offset} of its dynamic shared memory, which has shared_mem={launch.shared_bytes} bytes"
    if fault.memory == _VARIABLES:
        return "memory behind its __shared__ arrays and the module's variables; is an index of one of them too large?"
    if fault.memory < 0:
        return "memory that is in none of its arrays, or not aligned as its type must be"
    name, array, element = nearest(fault.memory, fault.offset, launch, layout)
    if 0 <= element < array.size:
        return f"element {element} of {name}, which the kernel declares const"
    hint = "; is there a test like `if (i < n)`, and is n that number?" if element >= 0 else ""
    return f"element {element} of {name}, which has {array.size}{hint}"


def nearest(memory: int, offset: int, launch: Launch, layout: Layout) -> tuple[str, np.ndarray, int]:
    """The parameter and the array at or next to a byte of a memory, and the number of the element there."""
    address = layout.spans[memory].begin + offset
    here = [i for i, each in enumerate(layout.memories) if each == memory]
    argument = min(here, key=lambda i: _distance(address, launch.values[i]))
    array = launch.values[argument]
    return launch.signature.parameters[argument].name, array, (address - array.ctypes.data) // array.itemsize


def _distance(address: int, array: np.ndarray) -> int:
    begin = array.ctypes.data
    return max(begin - address, address - (begin + array.nbytes), 0)


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
