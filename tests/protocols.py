"""GPU arrays that show one protocol alone, and arrays that are none but say so."""

import ctypes
from typing import Any

import cupy
import numpy as np

# --- of memory on a GPU ---------------------------------------------------------------------------------------------


class Interface:
    """A CuPy array of which only __cuda_array_interface__ is to be seen, for one stream."""

    def __init__(self, array: cupy.ndarray, stream: int | None = None, read_only: bool = False) -> None:
        self._owner, described = array, dict(array.__cuda_array_interface__)  # as long as this lives, the memory does
        pointer = described["data"][0]
        self.__cuda_array_interface__ = described | {"data": (pointer, read_only), "stream": stream}


class Dlpack:
    """A CuPy array of which only DLPack is to be seen."""

    def __init__(self, array: cupy.ndarray) -> None:
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__


# --- of memory that only says that it is on a GPU -------------------------------------------------------------------


class Exported:
    """Stands for an array of a library with __cuda_array_interface__, at an address that nobody reads by default."""

    def __init__(
        self, shape: tuple[int, ...] = (4, 4), typestr: str = "<f4", address: int = 0x7F00_0000_0000, **more: object
    ) -> None:
        self.__cuda_array_interface__: dict[str, object] = {
            "shape": shape,
            "typestr": typestr,
            "data": (address, more.pop("read_only", False)),
            "version": 3,
            **more,
        }


def exported(array: np.ndarray, **more: object) -> Exported:
    return Exported(array.shape, array.dtype.str, array.ctypes.data, **more)


def of_cupy(array: np.ndarray, device: int = 0) -> cupy.ndarray:
    """A real CuPy array over NumPy's memory. CuPy needs no driver for that."""
    memory = cupy.cuda.UnownedMemory(array.ctypes.data, array.nbytes, array, device)
    return cupy.ndarray(array.shape, array.dtype, cupy.cuda.MemoryPointer(memory, 0), strides=array.strides)


class CapsuleOnly:
    """A NumPy array that says in DLPack that it is on a GPU. `old`: it gives the capsule of before DLPack 1.0."""

    def __init__(self, array: np.ndarray, device: int = 2, old: bool = False) -> None:
        self.array, self.device, self.old = array, device, old
        self.streams: list[int] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return (self.device, 0)

    def __dlpack__(self, *, stream: int, **more: Any) -> object:
        self.streams.append(stream)
        capsule = self.array.__dlpack__(**({} if self.old else more))
        name, device_at = (b"dltensor", 8) if self.old else (b"dltensor_versioned", 40)
        get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
        get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        ctypes.c_int32.from_address(get_pointer(capsule, name) + device_at).value = self.device
        return capsule
