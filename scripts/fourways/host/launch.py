"""Launches a compiled kernel: arguments checked against the kernel's signature, then the call."""

import ctypes
import functools
import os
import re
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

MAX_THREADS, MAX_BLOCK, MAX_GRID = 1024, (1024, 1024, 64), (2**31 - 1, 65535, 65535)
MAX_SHARED_BYTES = 48 * 1024  # more needs an opt-in on the GPU
_FOUND = 66  # exit status of a program in which a sanitizer found a fault
_SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": f"exitcode={_FOUND}:detect_leaks=0",
    "TSAN_OPTIONS": f"exitcode={_FOUND}:halt_on_error=1",
}


class SanitizerError(RuntimeError):
    """A sanitizer found a fault in a kernel; the message holds the sanitizer's own report. No array was changed."""


class Parameter:
    """One parameter of a kernel, from its type as cuda_on_host.hpp writes it: "int64", "const float32*", "float32x4*".

    "float32x4" is CUDA's float4; "bytes2" is a type of two bytes that NumPy has no name for.
    """

    def __init__(self, text: str):
        found = re.fullmatch(r"(const )?([a-z]+)(\d*)(?:x(\d+))?(\*?)", text)
        assert found, text
        const, kind, bits, lanes, star = found.groups()
        self.text = text
        self.dtype = None if kind == "bytes" else np.dtype(kind + bits)
        self.lanes = int(lanes or 1)
        self.itemsize = self.dtype.itemsize if self.dtype else int(bits)
        self.is_pointer, self.is_written = bool(star), bool(star) and not const

    def check(self, value: Any, where: str) -> np.ndarray:
        """The value as an array: a pointer's own array, a scalar as an array of one. Raises TypeError, ValueError."""
        if not self.is_pointer:
            return self._check_scalar(value, where)
        wanted = f"{self.text} wants a NumPy array" + (f" of {self.dtype}" if self.dtype else "")
        if not isinstance(value, np.ndarray):
            raise TypeError(f"{where}: {wanted}; {_kind(value)} came")
        if not self._fits(value.dtype):
            raise TypeError(f"{where}: {wanted}; an array of {value.dtype.str} ({value.dtype}) came")
        if not value.flags.c_contiguous:
            raise ValueError(f"{where}: {wanted} that is C-contiguous; strides {value.strides} came: copy it first")
        if self.is_written and not value.flags.writeable:
            raise ValueError(f"{where}: {wanted} that can be written; a read-only array came")
        if value.size % self.lanes:
            raise ValueError(f"{where}: {wanted} with a multiple of {self.lanes} elements; {value.size} came")
        alignment = self.itemsize * (self.lanes if self.lanes in (2, 4) else 1)
        if self.dtype and value.ctypes.data % min(alignment, 16):
            raise ValueError(f"{where}: {wanted} that starts at a multiple of {min(alignment, 16)} bytes; it does not")
        return value

    def _fits(self, dtype: np.dtype) -> bool:
        return dtype == self.dtype if self.dtype else self.itemsize in (1, dtype.itemsize)

    def _check_scalar(self, value: Any, where: str) -> np.ndarray:
        kind = self.dtype.kind if self.dtype and self.lanes == 1 else "V"
        if isinstance(value, np.generic) and self.lanes == 1 and self._fits(value.dtype):
            return np.asarray(value)
        # A Python int or float goes where CuPy, which hands over 8 bytes of it, would get it right too.
        if type(value) is int and kind in "iu":
            limits = np.iinfo(self.text)
            if not limits.min <= value <= limits.max:
                raise ValueError(f"{where}: {value} is out of the range of {self.text}")
            return np.array(value, self.dtype)
        if (type(value) is float and self.text == "float64") or (type(value) is bool and kind == "b"):
            return np.array(value, self.dtype)
        hint = f": pass np.{self.text}(...)" if kind in "iufb" else ""
        raise TypeError(f"{where}: {self.text} is wanted; {_kind(value)} came{hint}")


Parameters = Sequence[Parameter]
Values = list[np.ndarray]


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}"
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def _check_extent(name: str, extent: Any, limits: tuple[int, int, int]) -> tuple[int, int, int]:
    """A grid or block as three numbers. Raises TypeError, ValueError."""
    sizes = extent if isinstance(extent, tuple | list) else ()
    whole = all(isinstance(size, int | np.integer) and not isinstance(size, bool) for size in sizes)
    if not whole or not 1 <= len(sizes) <= 3:
        raise TypeError(f"{name} is a tuple of one to three integers, such as (8,); {extent!r} came")
    x, y, z = (*map(int, extent), 1, 1)[:3]
    if any(not 1 <= size <= limit for size, limit in zip((x, y, z), limits, strict=True)):
        raise ValueError(f"{name} is {tuple(extent)}; CUDA takes 1 to {limits} in x, y, z")
    return x, y, z


def check_launch(
    name: str, parameters: Parameters, grid: Any, block: Any, args: Any, shared_mem: int
) -> tuple[list[int], Values]:
    """The launch's shape (grid, block) and its arguments as arrays. Raises TypeError, ValueError."""
    shape = [*_check_extent("grid", grid, MAX_GRID), *_check_extent("block", block, MAX_BLOCK)]
    threads = shape[3] * shape[4] * shape[5]
    if threads > MAX_THREADS:
        raise ValueError(f"block {tuple(block)} has {threads} threads; CUDA takes up to {MAX_THREADS}")
    if not isinstance(shared_mem, int | np.integer) or not 0 <= shared_mem <= MAX_SHARED_BYTES:
        raise ValueError(f"shared_mem is 0 to {MAX_SHARED_BYTES} bytes; {shared_mem!r} came")
    if not isinstance(args, tuple | list):
        raise TypeError(f"args is a tuple, such as (x, y, np.int64(x.size)); {_kind(args)} came")
    if len(args) != len(parameters):
        wanted = ", ".join(parameter.text for parameter in parameters)
        raise TypeError(f"{name} takes {len(parameters)} arguments ({wanted}); {len(args)} came")
    checked = [
        parameter.check(value, f"{name}, argument {number} of {len(args)}")
        for number, (parameter, value) in enumerate(zip(parameters, args, strict=True), 1)
    ]
    return shape, checked


class Library:
    """A compiled kernel file as a library in this process."""

    def __init__(self, file: Path):
        self._library = ctypes.CDLL(str(file))
        self._library.fourways_signatures.restype = self._library.fourways_launch.restype = ctypes.c_char_p

    def signatures(self) -> list[str]:
        """The parameter types of each kernel, as `Parameter` reads them, with commas between."""
        return self._library.fourways_signatures().decode().splitlines()

    def launch(self, number: int, shape: list[int], shared: int, parameters: Parameters, values: Values) -> None:
        """Run kernel `number`. Raises RuntimeError where its threads could not be started or never met."""
        held = [
            np.array(value.ctypes.data, np.uintp) if parameter.is_pointer else value
            for parameter, value in zip(parameters, values, strict=True)
        ]
        pointers = (ctypes.c_void_p * len(held))(*(value.ctypes.data for value in held))
        problem = self._library.fourways_launch(number, (ctypes.c_uint * 6)(*shape), ctypes.c_size_t(shared), pointers)
        if problem:
            raise RuntimeError(problem.decode())


class Program:
    """A compiled kernel file as a program with a sanitizer, which a running Python could not load."""

    def __init__(self, file: Path):
        self._file = file

    def signatures(self) -> list[str]:
        """As `Library.signatures`."""
        return self._run().splitlines()

    def launch(self, number: int, shape: list[int], shared: int, parameters: Parameters, values: Values) -> None:
        """Run kernel `number` on copies of the arrays, and copy back what it wrote if no fault was found.

        Raises SanitizerError; RuntimeError as `Library.launch`; ValueError where different arrays overlap.
        """
        memory: list[np.ndarray] = []
        places = [_place(value, memory) for value in values]
        with tempfile.TemporaryDirectory(prefix="fourways-") as folder:
            task = Path(folder) / "launch"
            with task.open("wb") as file:
                file.write(struct.pack("9q", number, *shape, shared, len(memory)))
                for block in memory:
                    file.write(struct.pack("q", block.nbytes) + block.tobytes())
                file.write(struct.pack("q", len(values)))
                for place, parameter in zip(places, parameters, strict=True):
                    file.write(struct.pack("2q", place, parameter.is_pointer))
            print(self._run(str(task)), end="")  # what the kernel printed
            results = task.read_bytes()
        starts = np.cumsum([0, *(block.nbytes for block in memory)])
        for value, place, parameter in zip(values, places, parameters, strict=True):
            if parameter.is_written:
                value[...] = np.ndarray(value.shape, value.dtype, results, int(starts[place]))

    def _run(self, *arguments: str) -> str:
        environment = dict(os.environ)
        for name, ours in _SANITIZER_OPTIONS.items():
            environment[name] = f"{environment.get(name, '')}:{ours}".removeprefix(":")
        run = functools.partial(subprocess.run, capture_output=True, text=True, env=environment, errors="replace")
        command = [str(self._file), *arguments]
        done = run(command)
        if "unexpected memory mapping" in done.stderr:  # an older ThreadSanitizer, and addresses too random for it
            done = run(["setarch", "-R", *command])
        if done.returncode == _FOUND:
            raise SanitizerError(f"the sanitizer found a fault; no array was changed\n{done.stderr.strip()}")
        if done.returncode:
            raise RuntimeError(done.stderr.strip() or f"the kernel's program ended with status {done.returncode}")
        return done.stdout


def _place(value: np.ndarray, memory: list[np.ndarray]) -> int:
    """The index in `memory` of this array's memory, which is added where it is new."""
    for place, block in enumerate(memory):
        if (block.ctypes.data, block.nbytes) == (value.ctypes.data, value.nbytes):
            return place
        if np.may_share_memory(block, value):
            raise ValueError("with a sanitizer, arrays may not overlap in part: pass copies, or one array twice")
    memory.append(value)
    return len(memory) - 1
