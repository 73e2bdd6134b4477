"""GPU arrays that show one protocol alone, and arrays that are none but say so."""

import ctypes
from typing import Any, ClassVar

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


# --- DLPack's C functions: https://dmlc.github.io/dlpack/latest/c_api.html --------------------------------------------


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    )


class Managed(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = (
        ("version", ctypes.c_uint32 * 2),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )


class Table(ctypes.Structure):
    """DLPackExchangeAPI."""

    _fields_ = (
        ("version", ctypes.c_uint32 * 2),
        ("previous", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("managed", ctypes.c_void_p),
        ("to_object", ctypes.c_void_p),
        ("tensor", ctypes.c_void_p),
        ("current_stream", ctypes.c_void_p),
    )


class Exchange:
    """A NumPy array that DLPack's C functions of its type show, if a subclass has them: see `library`."""

    lent: ClassVar[set[int]]  # addresses of what was given out by `managed` and not given back
    calls: ClassVar[list[str]]
    keep: ClassVar[tuple]  # the table and what it points to

    def __init__(
        self, array: np.ndarray, device: tuple[int, int] = (2, 0), dtype: tuple[int, ...] = (), read_only: bool = False
    ) -> None:
        item = array.dtype.itemsize
        code, bits, lanes = dtype or ({"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}[array.dtype.kind], 8 * item, 1)
        self.array = array
        self.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        self.strides = (ctypes.c_int64 * array.ndim)(*(stride // item for stride in array.strides))
        places = (ctypes.addressof(self.shape), ctypes.addressof(self.strides))
        self.tensor = Tensor(array.ctypes.data - 8, device, array.ndim, code, bits, lanes, *places, 8)
        self.managed = Managed((1, 3), None, None, int(read_only), self.tensor)


def library(
    version: int = 1, previous: type[Exchange] | None = None, stream: int = 0, **functions: object
) -> type[Exchange]:
    """A class of arrays with C functions, in a table of this version, whose current stream is `stream`.

    `previous`: a class whose table is named as the one of an older version.
    `functions`: others in place of some, as tensor=None; FAILS is one that sets an exception.
    """
    from_object = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)

    class Library(Exchange):
        lent: ClassVar[set[int]] = set()
        calls: ClassVar[list[str]] = []

    @from_object
    def tensor(array: Exchange, found: int) -> int:
        Library.calls.append("tensor")
        ctypes.memmove(found, ctypes.byref(array.tensor), ctypes.sizeof(Tensor))
        return 0

    @ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
    def give_back(managed: int) -> None:
        Library.lent.remove(managed)

    @from_object
    def managed(array: Exchange, found: int) -> int:
        Library.calls.append("managed")
        array.managed.deleter = ctypes.cast(give_back, ctypes.c_void_p)
        Library.lent.add(ctypes.addressof(array.managed))
        ctypes.c_void_p.from_address(found).value = ctypes.addressof(array.managed)
        return 0

    @ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p)
    def current_stream(device_type: int, device_id: int, found: int) -> int:
        ctypes.c_void_p.from_address(found).value = stream
        return 0

    named: dict[str, Any] = {"managed": managed, "tensor": tensor, "current_stream": current_stream} | functions
    table = Table((version, 3), ctypes.addressof(previous.keep[0]) if previous else None)
    for name, function in named.items():
        setattr(table, name, ctypes.cast(function, ctypes.c_void_p))
    Library.keep = (table, named, give_back, previous)
    shown = capsule(ctypes.addressof(table), b"dlpack_exchange_api")
    Library.__dlpack_c_exchange_api__ = shown  # type: ignore[attr-defined]
    return Library


FAILS = ctypes.pythonapi.PyList_Append  # of what is no list: -1 and a SystemError


def capsule(address: int | None, name: bytes) -> Any:
    """A PyCapsule. What lies there and the name must live as long as it does."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(address, name, None)
