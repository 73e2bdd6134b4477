"""Checks a launch: its shape, and its arguments against the kernel's signature."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

MAX_THREADS, MAX_BLOCK, MAX_GRID = 1024, (1024, 1024, 64), (2**31 - 1, 65535, 65535)
SHARED_BYTES = 48 * 1024  # of dynamic shared memory that a block may have unasked
MAX_SHARED_BYTES = 227 * 1024  # that it may have at all, from compute capability 9.0 on


class Parameter:
    """One parameter of a kernel, from its type as cuda_on_host.hpp writes it: "int64", "const float32*", "float32x4*".

    "float32x4" is CUDA's float4; "bytes2" is a type of two bytes that C++ has no word for, such as __half or a struct.
    For a vector type an array of its numbers will do, or one of the whole: complex numbers, or structures.
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
        wanted = f"{self.text} wants a NumPy array of {self.dtype}"
        if not self.dtype:  # a struct's size, and that of void
            wanted = "a NumPy array is wanted" + (f", of {self.itemsize} bytes an element" if self.itemsize > 1 else "")
        if not isinstance(value, np.ndarray):
            raise TypeError(f"{where}: {wanted}; {_kind(value)} came")
        if not self._fits(value.dtype):
            packed = value.dtype.fields and value.dtype.itemsize < self.itemsize
            hint = ": try np.dtype(..., align=True), which leaves the gaps that C leaves" if packed else ""
            size = "" if self.dtype else f", of {value.dtype.itemsize} bytes,"
            raise TypeError(f"{where}: {wanted}; an array of {value.dtype.str} ({value.dtype}){size} came{hint}")
        if not value.flags.c_contiguous:
            raise ValueError(f"{where}: {wanted} that is C-contiguous; strides {value.strides} came: copy it first")
        if self.is_written and not value.flags.writeable:
            raise ValueError(f"{where}: {wanted} that can be written; a read-only array came")
        if value.dtype == self.dtype and value.size % self.lanes:
            raise ValueError(f"{where}: {wanted} with a multiple of {self.lanes} elements; {value.size} came")
        alignment = self.itemsize * (self.lanes if self.lanes in (2, 4) else 1)
        if self.dtype and value.ctypes.data % min(alignment, 16):
            raise ValueError(f"{where}: {wanted} that starts at a multiple of {min(alignment, 16)} bytes; it does not")
        return value

    def _fits(self, dtype: np.dtype) -> bool:
        if not self.dtype:
            return self.itemsize in (1, dtype.itemsize)
        is_whole = self.lanes > 1 and dtype.itemsize == self.lanes * self.itemsize
        is_complex = dtype.kind == "c" and self.dtype.kind == "f" and self.lanes == 2
        return dtype == self.dtype or (is_whole and (is_complex or dtype.kind == "V"))

    def _check_scalar(self, value: Any, where: str) -> np.ndarray:
        kind = self.dtype.kind if self.dtype and self.lanes == 1 else "V"
        is_whole = isinstance(value, np.generic) and value.nbytes == self.itemsize * self.lanes
        if is_whole and self._fits(value.dtype):
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


class Launch(NamedTuple):
    """A launch with all that it needs: the kernel's `name` and `number` in its file, `shape` is grid and block."""

    name: str
    number: int
    shape: list[int]
    shared_bytes: int
    seconds: int
    parameters: Parameters
    names: Sequence[str]
    values: Values


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


def check_shape(grid: Any, block: Any, shared_mem: int, most_shared: int = MAX_SHARED_BYTES) -> list[int]:
    """Grid and block of a launch as six numbers: what any GPU refuses is refused here. Raises TypeError, ValueError."""
    shape = [*_check_extent("grid", grid, MAX_GRID), *_check_extent("block", block, MAX_BLOCK)]
    threads = shape[3] * shape[4] * shape[5]
    if threads > MAX_THREADS:
        raise ValueError(f"block {tuple(block)} has {threads} threads; CUDA takes up to {MAX_THREADS}")
    if not isinstance(shared_mem, int | np.integer) or not 0 <= shared_mem <= most_shared:
        more = ": allow more with max_dynamic_shared_size_bytes" if most_shared < MAX_SHARED_BYTES else ""
        raise ValueError(f"shared_mem is 0 to {most_shared} bytes; {shared_mem!r} came{more}")
    return shape


def check_arguments(name: str, parameters: Parameters, args: Any) -> Values:
    """A launch's arguments as arrays. Raises TypeError, ValueError."""
    if not isinstance(args, tuple | list):
        raise TypeError(f"args is a tuple, such as (x, y, np.int64(x.size)); {_kind(args)} came")
    if len(args) != len(parameters):
        wanted = ", ".join(parameter.text for parameter in parameters)
        raise TypeError(f"{name} takes {len(parameters)} arguments ({wanted}); {len(args)} came")
    return [
        parameter.check(value, f"{name}, argument {number} of {len(args)}")
        for number, (parameter, value) in enumerate(zip(parameters, args, strict=True), 1)
    ]
