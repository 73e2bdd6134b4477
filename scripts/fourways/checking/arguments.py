"""Check one argument of a launch against its parameter, and convert it to the library's type.

The rules are those of `_pointer` in cupy/cuda/function.pyx (CuPy 14) and of `_build_arg_buf` in pycuda/driver.py
(PyCUDA 2026.1).
"""

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fourways import arguments
from fourways.arguments import named
from fourways.kernels import Parameter

HOST = -1  # stands for a GPU's number: memory that no GPU reaches


class Known(NamedTuple):
    """A library's facts about the memory behind a pointer. None: it tells nothing, or the kernel does not care."""

    dtype: np.dtype | None = None
    is_contiguous: bool = True
    device: int | None = None
    is_writable: bool = True
    address: int | None = None


class CuPy:
    """The types that a kernel of CuPy takes for a pointer, a number and a struct."""

    array, from_others = "a CuPy array{}", "cupy.asarray makes one"
    of_python: tuple[type, ...] = np.int64, np.float64  # CuPy's types for Python's own int and float

    def __init__(self) -> None:
        import cupy

        self.ndarray, self.device = cupy.ndarray, cupy.cuda.runtime.getDevice
        self._allocation, self._runtime = cupy.cuda.MemoryPointer, cupy.cuda.runtime
        try:
            self.has_one_gpu = self._runtime.getDeviceCount() == 1
        except self._runtime.CUDARuntimeError:  # no driver here: wrapping a kernel needs none
            self.has_one_gpu = False
        self.handles: tuple[type, ...] = cupy.cuda.texture.TextureObject, cupy.cuda.texture.SurfaceObject

    def known(self, value: Any) -> Known | None:
        """Return the facts about the memory behind `value`; None if the library does not take it for a pointer."""
        if isinstance(value, self.ndarray):
            return Known(value.dtype, value._c_contiguous, value.data.device_id, address=value.data.ptr)
        return Known(device=value.device_id) if isinstance(value, self._allocation) else None

    def number(self, value: np.generic) -> Any:
        """A NumPy scalar of the parameter's dtype as the library takes it."""
        return value

    def struct(self, value: np.void | np.ndarray) -> Any:
        """A struct, which has no dimensions, as the library takes it."""
        return np.asarray(value)


class PyCUDA(CuPy):
    """The types that a function of PyCUDA takes: its own arrays, CuPy's, and any `__cuda_array_interface__`."""

    array, from_others = "an array{} on the GPU", "pycuda.driver.In, Out or InOut, or cupy.asarray, makes one"
    of_python = ()

    def __init__(self) -> None:
        super().__init__()
        self.handles, self._driver = (), sys.modules["pycuda.driver"]

    def known(self, value: Any) -> Known | None:
        driver = self._driver
        if isinstance(value, self.ndarray):
            return super().known(value)
        if isinstance(value, (driver.DeviceAllocation, driver.PooledDeviceAllocation)):
            return Known(device=self._device_of(int(value)))
        is_handler = isinstance(value, driver.ArgumentHandler)
        if is_handler or (isinstance(value, np.ndarray) and isinstance(value.base, driver.ManagedAllocationOrStub)):
            array = np.asarray(value.array) if is_handler else value
            is_written = isinstance(value, driver.Out) or not is_handler
            return Known(array.dtype, array.flags.c_contiguous, None, array.flags.writeable or not is_written)
        if (interface := getattr(value, "__cuda_array_interface__", None)) is None:
            return None
        dtype, (address, is_read_only) = np.dtype(interface["typestr"]), interface["data"]
        is_contiguous = _is_contiguous(interface["shape"], interface.get("strides"), dtype.itemsize)
        device = HOST if not address and 0 not in interface["shape"] else self._device_of(address)
        return Known(dtype, is_contiguous, device, not is_read_only, address)

    def number(self, value: np.generic) -> Any:
        bits = {"?": np.uint8, "e": np.uint16}.get(value.dtype.char)  # PyCUDA has no letter for these two
        return value.view(bits) if bits else value

    def struct(self, value: np.void | np.ndarray) -> Any:
        return np.void(value.tobytes())

    def _device_of(self, address: int) -> int | None:
        """Return the device on which an address lies: HOST if CUDA does not know it, None for memory of all GPUs."""
        memory = self._runtime.pointerGetAttributes(address) if address else None
        if memory and memory.type == self._runtime.memoryTypeUnregistered:
            return HOST
        return memory.device if memory and memory.type == self._runtime.memoryTypeDevice else None


def taker(entry: str, number: int, parameter: Parameter, library: CuPy) -> Callable[[Any], Any]:
    """Return a function that checks and converts the argument for `parameter`, the `number`th of `entry`, from 1.

    It raises TypeError or ValueError, which names kernel and parameter, for a value that does not fit.
    """
    position = f"argument {number}"
    where = f"{entry}: {position}" + ("" if parameter.name == position else f", {parameter.name}")
    rule = _pointer if parameter.is_pointer else _scalar if parameter.dtype else _struct

    def take(value: Any) -> Any:
        try:
            return rule(parameter, library, value)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{where}: {error}") from error.__cause__

    return take


def _refused(error: type[Exception], came: str, wanted: str, advice: str = "") -> Exception:
    return error(f"{came} came; {wanted} is wanted{advice and f' ({advice})'}")


def _pointer(parameter: Parameter, library: CuPy, value: Any) -> Any:
    """An array on the GPU, or None for NULL."""
    if value is None:
        return np.uintp(0)
    dtype = parameter.dtype
    wanted = library.array.format(f" of {dtype}" if dtype else "")
    try:
        known = library.known(value)
    except RuntimeError as problem:  # a tensor of PyTorch that needs a gradient
        raise _refused(TypeError, named(value), wanted, str(problem)) from problem
    if known is None:
        advice = library.from_others if hasattr(value, "shape") and not isinstance(value, np.generic) else ""
        raise _refused(TypeError, named(value), wanted, advice)
    if dtype and known.dtype is not None and known.dtype != dtype:
        raise _refused(TypeError, f"an array of {known.dtype}", dtype)
    if not known.is_contiguous:
        advice = "cupy.ascontiguousarray makes such an array"
        raise _refused(ValueError, "an array with gaps or in another order", "C order without gaps", advice)
    if known.device == HOST:
        raise _refused(TypeError, "an array in host memory", wanted, library.from_others)
    if known.device not in (None, here := library.device()):
        raise _refused(ValueError, f"an array on GPU {known.device}", f"one on the current GPU, {here},")
    if dtype and known.address and known.address % (alignment := np.dtype(dtype).itemsize):
        advice = "the copy that x.copy() makes is aligned"
        came = f"an array at address {known.address:#x}"
        raise _refused(ValueError, came, f"an address that is a multiple of {alignment} bytes", advice)
    if parameter.kind == "output" and not known.is_writable:
        raise _refused(ValueError, "a read-only array", "one that the kernel may write into")
    return value


def _struct(parameter: Parameter, library: CuPy, value: Any) -> Any:
    """A struct by value."""
    return library.struct(arguments.struct(parameter, value))


def _scalar(parameter: Parameter, library: CuPy, value: Any) -> Any:
    """A number: it becomes what C would make of it, and must be in the range of its type."""
    if parameter.dtype == "uint64" and isinstance(value, library.handles):
        return value  # a texture or a surface
    return library.number(arguments.number(np.dtype(parameter.dtype), value))


def _is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...] | None, itemsize: int) -> bool:
    """Whether elements with these strides, in bytes, lie in C's order without gaps; None means that they do."""
    if strides is None or 0 in shape:
        return True
    expected = itemsize
    for length, stride in zip(reversed(shape), reversed(strides), strict=True):
        if length > 1 and stride != expected:
            return False
        expected *= length
    return True
