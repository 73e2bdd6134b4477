"""Messages about the faults of a kernel."""

import signal
import struct
from typing import NamedTuple

import numpy as np

from fourways.host.arrays import Layout
from fourways.host.launch import Launch, coordinates

_STACK, _VARIABLES = -2, -3  # a fault's memory, where it is the stack or lies behind variables; -1: none that is known


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
