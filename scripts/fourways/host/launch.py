"""Checks a launch: its shape, and its arguments against the kernel's signature."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fourways.kernels import Limits, Parameter, Signature

MAX_THREADS, MAX_BLOCK, MAX_GRID = 1024, (1024, 1024, 64), (2**31 - 1, 65535, 65535)
SHARED_BYTES = 48 * 1024  # the dynamic shared memory that a block may have by default
MAX_SHARED_BYTES = 227 * 1024  # the most that a block may ask for, from compute capability 9.0 on


class Launch(NamedTuple):
    """A launch: `number` is the kernel's position in its file, `shape` is grid and block, `values` the arguments.

    `variables` are the bytes of the module's variables.
    """

    signature: Signature
    number: int
    shape: list[int]
    shared_bytes: int
    seconds: int
    values: list[np.ndarray]
    variables: np.ndarray

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.signature.entry


def coordinates(number: int, extent: Sequence[int]) -> tuple[int, int, int]:
    """Return the place in x, y and z of a thread in a block, or of a block in a grid, by its number."""
    x, y = extent[:2]
    return number % x, number // x % y, number // (x * y)


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


def check_shape(
    grid: Any, block: Any, shared_mem: int, limits: Limits, most_shared: int = MAX_SHARED_BYTES
) -> list[int]:
    """Return grid and block as six numbers; `limits` are the kernel's. Raises TypeError or ValueError where GPUs do."""
    shape = [*_check_extent("grid", grid, MAX_GRID), *_check_extent("block", block, MAX_BLOCK)]
    threads = shape[3] * shape[4] * shape[5]
    if threads > MAX_THREADS:
        raise ValueError(f"block {tuple(block)} has {threads} threads; CUDA takes up to {MAX_THREADS}")
    if not isinstance(shared_mem, int | np.integer) or not 0 <= shared_mem <= most_shared:
        more = ": allow more with max_dynamic_shared_size_bytes" if most_shared < MAX_SHARED_BYTES else ""
        raise ValueError(f"shared_mem is 0 to {most_shared} bytes; {shared_mem!r} came{more}")
    if 0 < limits.threads < threads:
        raise ValueError(
            f"block {tuple(block)} has {threads} threads; the kernel takes up to {limits.threads} by its bounds"
        )
    if limits.block and shape[3:] != [*limits.block]:
        raise ValueError(f"block is {tuple(block)}; the kernel takes {limits.block} alone, by its __block_size__")
    if any(blocks % each for blocks, each in zip(shape, limits.cluster, strict=False)):
        raise ValueError(f"grid is {tuple(grid)}; the kernel takes whole clusters of {limits.cluster} blocks")
    if shared_mem + limits.shared_bytes > MAX_SHARED_BYTES:
        own = f"with the kernel's {limits.shared_bytes} static bytes"
        raise ValueError(f"shared_mem is {shared_mem} bytes; {own} a block has more than {MAX_SHARED_BYTES}")
    return shape


def check_arguments(signature: Signature, args: Any) -> list[np.ndarray]:
    """A launch's arguments as arrays: a pointer's own, a scalar as an array of one. Raises TypeError, ValueError.

    For CUDA's vector types, such as float4, an array of their numbers will do, or of complex numbers or structures.
    """
    if not isinstance(args, tuple | list):
        raise TypeError(f"args is a tuple, such as (x, y, np.int64(x.size)); {_kind(args)} came")
    count = len(signature.parameters)
    if len(args) != count:
        raise TypeError(f"{signature} takes {count} arguments; {len(args)} came")
    values = []
    for number, (parameter, value) in enumerate(zip(signature.parameters, args, strict=True), 1):
        try:
            values.append((_check_array if parameter.is_pointer else _check_scalar)(parameter, value))
        except (TypeError, ValueError) as error:
            raise type(error)(f"{signature.entry}, argument {number} of {count}: {error}") from None
    return values


def _check_array(parameter: Parameter, value: Any) -> np.ndarray:
    dtype, lanes = parameter.vector or (parameter.dtype, 1)
    numbers = np.dtype(dtype) if dtype else None
    if numbers:
        pointer = parameter.type if lanes > 1 else f"{'const ' if parameter.kind == 'input' else ''}{numbers}*"
        wanted = f"{pointer} wants a NumPy array of {numbers}"
    else:
        size = f", of {parameter.element_size} bytes an element" if parameter.element_size else ""
        wanted = f"a NumPy array is wanted{size}"
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{wanted}; {_kind(value)} came")
    if not _element_fits(parameter, value.dtype):
        packed = value.dtype.fields and value.dtype.itemsize < parameter.element_size
        hint = ": try np.dtype(..., align=True), which leaves the gaps that C leaves" if packed else ""
        size = "" if numbers else f", of {value.dtype.itemsize} bytes,"
        raise TypeError(f"{wanted}; an array of {value.dtype.str} ({value.dtype}){size} came{hint}")
    if not value.flags.c_contiguous:
        raise ValueError(f"{wanted} that is C-contiguous; strides {value.strides} came: copy it first")
    if parameter.kind == "output" and not value.flags.writeable:
        raise ValueError(f"{wanted} that can be written; a read-only array came")
    if value.dtype == numbers and value.size % lanes:
        raise ValueError(f"{wanted} with a multiple of {lanes} elements; {value.size} came")
    alignment = min(numbers.itemsize * (lanes if lanes in (2, 4) else 1), 16) if numbers else 1
    if value.ctypes.data % alignment:
        raise ValueError(f"{wanted} that starts at a multiple of {alignment} bytes; it does not")
    return value


def _element_fits(parameter: Parameter, dtype: np.dtype) -> bool:
    """Whether arrays of this dtype can stand behind a pointer. Of a vector type it is the numbers', or the whole's."""
    numbers, lanes = parameter.vector or (parameter.dtype, 1)
    if not numbers:
        return parameter.element_size in (0, dtype.itemsize)
    if dtype == numbers:
        return True
    is_whole = dtype.kind == "V" or dtype == np.dtype(parameter.dtype or np.void)
    return lanes > 1 and dtype.itemsize == parameter.element_size and is_whole


def _check_scalar(parameter: Parameter, value: Any) -> np.ndarray:
    """The value as an array of one. CuPy's launch must hand over the same: a kernel right here is right there.

    That launch copies bytes. A Python int of 8 bytes arrives as any integer that holds it, a float as float64 alone.
    """
    if not parameter.dtype or parameter.vector:
        is_vector = isinstance(value, np.generic) and value.nbytes == parameter.size and value.dtype == parameter.dtype
        return np.asarray(value if is_vector else _struct(parameter, value))
    dtype = np.dtype(parameter.dtype)
    if isinstance(value, int) and not isinstance(value, bool) and dtype.kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        if not low <= value <= high:
            raise ValueError(f"{value} came; one from {low} to {high}, {dtype}, is wanted")
        return np.asarray(value, dtype)
    if isinstance(value, bool | float | np.generic) and np.asarray(value).dtype == dtype:
        return np.asarray(value)
    raise TypeError(f"a number, {dtype}, is wanted; {_kind(value)} came: pass np.{dtype}(...)")


def _struct(parameter: Parameter, value: Any) -> np.void | np.ndarray:
    wanted = f"{parameter.type} of {parameter.size} bytes is wanted"
    if not isinstance(value, np.void) and not (isinstance(value, np.ndarray) and value.shape == ()):
        raise TypeError(f"{_kind(value)} came; {wanted} (as np.void, or as a NumPy array without dimensions)")
    if value.dtype.itemsize != parameter.size or value.dtype.hasobject:
        hint = "np.dtype(..., align=True) leaves the gaps that C leaves"
        raise TypeError(f"{value.dtype} of {value.dtype.itemsize} bytes came; {wanted} ({hint})")
    return value
