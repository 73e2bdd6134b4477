"""The arrays of a call that is judged: where the way wants them, outputs poisoned, edges guarded."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fourways.ways import is_host

_GUARD = 4096  # elements on either side of an array: more than a few blocks too many write, and arrays stay aligned

# The guards of outputs and of inputs differ, so a kernel that copies too much is seen; floats are NaN in both.
BESIDE_AN_OUTPUT, BESIDE_AN_INPUT = b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f"

Expected = np.ndarray | Mapping[str, np.ndarray]


def poison(dtype: Any) -> Any:
    """The value an output holds before a way runs: NaN for floats, the smallest integer (unsigned: the largest).

    Raises TypeError for dtypes without a value that no right answer has, such as bool.
    """
    dtype = np.dtype(dtype)
    if dtype.kind in "fc":
        return dtype.type(np.nan)
    if dtype.kind not in "iu":
        raise TypeError(f"an output of dtype {dtype} cannot be poisoned; wanted floats, complex numbers or integers")
    return np.iinfo(dtype).min or np.iinfo(dtype).max


def place(way: str, value: Any) -> Any:
    """`value` where the way wants it: for "host" as it is; for any other way, or "gpu", NumPy arrays go to the GPU."""
    if is_host(way) or not isinstance(value, np.ndarray):
        return value
    import cupy

    return cupy.asarray(value)


def fetch(array: Any) -> np.ndarray:
    """A NumPy copy of a NumPy or CuPy array (this waits for the GPU)."""
    return array.get() if hasattr(array, "get") else array.copy()


def fresh_outputs(inputs: tuple, expected: Expected, in_place: Mapping[int, int] = {}) -> list[np.ndarray]:
    """The outputs before a call: of the shapes and dtypes of `expected`, poisoned.

    Those that `in_place` names by their number hold what the input of the number beside it holds.
    """
    outputs = list(expected.values()) if isinstance(expected, Mapping) else [expected]
    return [np.array(inputs[in_place[i]]) if i in in_place else _poisoned(right) for i, right in enumerate(outputs)]


def _poisoned(right: np.ndarray) -> np.ndarray:
    """An array like `right`, none of whose elements is right; a structure's fields may be."""
    if right.dtype.kind == "b":
        return ~right
    if right.dtype.kind != "V":
        return np.full(right.shape, poison(right.dtype), right.dtype)
    octets = np.full(right.nbytes, 255, np.uint8)
    return octets.view(right.dtype).reshape(right.shape)


class Guarded:
    """A copy of an array where the way wants it, and on either side `poison`, repeated, where nobody may write."""

    def __init__(self, way: str, value: np.ndarray, poison: bytes):
        self._dtype, self._shape = value.dtype, value.shape
        guard = _GUARD * value.itemsize
        self._inside = slice(guard, guard + value.nbytes)
        self._beside = np.frombuffer(poison * (guard // len(poison)), np.uint8)
        whole = np.empty(value.nbytes + 2 * guard, np.uint8)
        whole[:guard] = whole[self._inside.stop :] = self._beside
        whole[self._inside] = _octets(value)
        self._whole = place(way, whole)
        self.array = self._view(self._whole)

    def _view(self, whole: Any) -> Any:
        return whole[self._inside].view(self._dtype).reshape(self._shape)

    def fetched(self) -> np.ndarray:
        """The array as it is now, in NumPy."""
        self._whole = fetch(self._whole)
        return self._view(self._whole)

    def written_beside(self) -> str | None:
        """The first element beside the array that somebody wrote, in words; after `fetched`."""
        begin, end = self._inside.start, self._inside.stop
        for start, side in ((0, self._whole[:begin]), (end, self._whole[end:])):
            if (changed := side != self._beside).any():
                element = (start + int(changed.argmax()) - begin) // self._dtype.itemsize
                return f"element {element} of {(end - begin) // self._dtype.itemsize}"
        return None


def _octets(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def same(after: np.ndarray, before: np.ndarray) -> bool:
    """Bit for bit."""
    words = np.uint8 if after.nbytes % 8 else np.uint64  # NumPy makes a bool for each: few for large arrays
    return np.array_equal(_octets(after).view(words), _octets(before).view(words))
