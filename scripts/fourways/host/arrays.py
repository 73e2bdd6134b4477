"""The arrays of a launch in the file that Python and the kernel's program share, and the launch's description."""

import mmap
import os
from collections.abc import Callable
from io import FileIO
from typing import NamedTuple

import numpy as np

from fourways.host.launch import Launch

_CHUNK = 2**30  # bytes; a system call moves less than 2 GiB
_ALIGNMENT = 16  # bytes: the largest that a CUDA type asks for


class Span(NamedTuple):
    """Memory of this Python that a kernel gets: one array, or several that overlap."""

    begin: int
    end: int
    written: bool


class Layout:
    """The offsets in the file of the launch's description, the module's variables, the scalars and the arrays.

    `spans` is the arrays' memory in the order of addresses. `memories` holds for each argument the number of its span;
    -1 is a scalar. `description` is the number of bytes that `launch_from` of cpp/host/process.cpp reads.
    """

    def __init__(self, launch: Launch):
        self._launch = launch
        pointers = [parameter.is_pointer for parameter in launch.signature.parameters]
        self.spans = _spans(launch)
        self.memories = [
            _span_of(value, self.spans) if pointer else -1
            for value, pointer in zip(launch.values, pointers, strict=True)
        ]
        blocks = [*self.spans, Span(0, launch.shared_bytes, True)]
        size = 8 * (10 + 1 + 3 * len(blocks) + 1 + 2 * len(launch.values))
        self._places: list[int] = []  # the offset of each argument in the file
        for value, pointer in zip(launch.values, pointers, strict=True):
            size = size if pointer else _up(size, _ALIGNMENT)
            self._places.append(size)
            size += 0 if pointer else value.nbytes
        self.description = _up(size, 8)
        self._variables = _up(self.description, _ALIGNMENT)
        self._size = _up(self._variables + launch.variables.nbytes, mmap.PAGESIZE)
        starts: list[int] = []
        for begin, end, _ in blocks:
            to_the_end = end - begin + -end % _ALIGNMENT  # as near to the end of a page as the alignment allows
            self._size += _up(to_the_end, mmap.PAGESIZE)
            starts.append(self._size - to_the_end)
        self._words = [launch.number, *launch.shape, launch.shared_bytes, launch.seconds, self._variables, len(blocks)]
        for start, (begin, end, written) in zip(starts, blocks, strict=True):
            self._words += start, end - begin, written
        self._words.append(len(launch.values))
        for i, (value, memory) in enumerate(zip(launch.values, self.memories, strict=True)):
            offset = self._places[i]
            if memory >= 0:
                offset = value.ctypes.data - self.spans[memory].begin
                self._places[i] = starts[memory] + offset
            self._words += memory, offset

    def write(self, file: FileIO) -> None:
        """Write description, variables, scalars and arrays."""
        os.ftruncate(file.fileno(), self._size)
        _transfer(os.pwritev, file, np.array(self._words, np.int64), 0)
        _transfer(os.pwritev, file, self._launch.variables, self._variables)
        for value, place in zip(self._launch.values, self._places, strict=True):
            _transfer(os.pwritev, file, value, place)

    def read_back(self, file: FileIO) -> None:
        """Read the arrays that the kernel may have written, and the variables."""
        _transfer(os.preadv, file, self._launch.variables, self._variables)
        parameters = self._launch.signature.parameters
        for parameter, value, place in zip(parameters, self._launch.values, self._places, strict=True):
            if parameter.kind == "output":
                _transfer(os.preadv, file, value, place)


def _up(size: int, unit: int) -> int:
    return -(-size // unit) * unit


def _spans(launch: Launch) -> list[Span]:
    """The memory behind the pointers; what overlaps is one span, as it is one memory."""
    arrays = [
        Span(value.ctypes.data, value.ctypes.data + value.nbytes, parameter.kind == "output")
        for parameter, value in zip(launch.signature.parameters, launch.values, strict=True)
        if parameter.is_pointer
    ]
    spans: list[Span] = []
    for array in sorted(arrays):
        if spans and (array.begin < spans[-1].end or array.begin == spans[-1].begin):
            before = spans.pop()
            array = Span(before.begin, max(before.end, array.end), before.written or array.written)
        spans.append(array)
    return spans


def _span_of(value: np.ndarray, spans: list[Span]) -> int:
    address = value.ctypes.data
    return next(i for i, (begin, end, _) in enumerate(spans) if begin <= address < end or begin == address == end)


def _transfer(call: Callable[..., int], file: FileIO, array: np.ndarray, offset: int) -> None:
    """Read or write all bytes of a C-contiguous array."""
    octets = array.reshape(-1).view(np.uint8)
    done = 0
    while done < array.nbytes:
        done += call(file.fileno(), [octets[done : done + _CHUNK]], offset + done)
