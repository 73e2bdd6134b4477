"""One rule for a value and the parameter of a kernel that it is given to.

A number becomes what C would make of it, if its type holds it: 1.5 is a float, 2 is an int and a float, 1.5 is no int,
300 is no `unsigned char`. `tests/argument_cases.py` is the table of cases to which Python and C++ are held.
"""

import functools
from typing import Any

import numpy as np

from fourways.kernels import Parameter

NUMBERS = bool, int, float, complex, np.number, np.bool_
"""The types whose values are numbers."""


def number(dtype: np.dtype, value: Any) -> np.generic:
    """Convert a number of Python or NumPy to a dtype. Raises TypeError for another kind, ValueError for its value."""
    if isinstance(value, np.ndarray) and value.shape == ():
        value = value[()]
    if not isinstance(value, NUMBERS):
        advice = " (.item() fetches it)" if getattr(value, "shape", None) == () else ""
        raise TypeError(f"{named(value)} came; a number, {dtype}, is wanted{advice}")
    if dtype.kind in "iu":
        return _whole(dtype, value)
    if dtype.kind == "f" and isinstance(value, complex | np.complexfloating):
        raise TypeError(f"{named(value)} came; a real number, {dtype}, is wanted")
    return _rounded(dtype, value)


def is_handed_over(dtype: np.dtype, value: Any) -> bool:
    """Whether CuPy's unchecked launch, which copies bytes, hands this number over as a parameter of this dtype.

    A Python int is 8 bytes, the lower ones first: it arrives as any integer. A Python float arrives as float64 alone.
    """
    if isinstance(value, bool):
        return dtype.kind == "b"
    if isinstance(value, int):
        return dtype.kind in "iu"
    if isinstance(value, float) and not isinstance(value, np.generic):
        return dtype == np.float64
    return isinstance(value, np.generic) and value.dtype == dtype


def struct(parameter: Parameter, value: Any) -> np.void | np.ndarray:
    """Return a struct as it came: `np.void`, or a NumPy array without dimensions. Raises TypeError."""
    wanted = f"{parameter.type} of {parameter.size} bytes is wanted"
    if not isinstance(value, np.void) and not (isinstance(value, np.ndarray) and value.shape == ()):
        raise TypeError(f"{named(value)} came; {wanted} (as np.void, or as a NumPy array without dimensions)")
    if value.dtype.itemsize != parameter.size or value.dtype.hasobject:
        hint = "np.dtype(..., align=True) leaves the gaps that C leaves"
        raise TypeError(f"{value.dtype} of {value.dtype.itemsize} bytes came; {wanted} ({hint})")
    return value


def element_fits(parameter: Parameter, dtype: np.dtype) -> bool:
    """Whether arrays of this dtype can stand behind a pointer. Of a vector type it is the numbers', or the whole's."""
    numbers, lanes = parameter.vector or (parameter.dtype, 1)
    if not numbers:
        return parameter.element_size in (0, dtype.itemsize)
    if dtype == numbers:
        return True
    is_whole = dtype.kind == "V" or dtype == np.dtype(parameter.dtype or np.void)
    return lanes > 1 and dtype.itemsize == parameter.element_size and is_whole


@functools.cache
def limits(dtype: np.dtype) -> tuple[int, int] | tuple[float, float]:
    """Return the least and the greatest finite number of a dtype of integers or floats."""
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    return float(np.finfo(dtype).min), float(np.finfo(dtype).max)


def named(value: Any) -> str:
    """Return a value as the beginning of a sentence: "an array of float64", "the number 3"."""
    if isinstance(value, int) and value.bit_length() > 128:
        return f"a number of {value.bit_length()} bits"
    if isinstance(value, NUMBERS):
        return f"the number {value}"
    if hasattr(value, "dtype") and hasattr(value, "shape") and not isinstance(value, np.generic):
        return f"{'a NumPy' if isinstance(value, np.ndarray) else 'an'} array of {value.dtype}"
    return "None" if value is None else f"an object of type {type(value).__name__}"


def _whole(dtype: np.dtype, value: Any) -> np.generic:
    wanted = f"a whole number, {dtype}, is wanted"
    if isinstance(value, complex | np.complexfloating):
        raise TypeError(f"{named(value)} came; {wanted}")
    if isinstance(value, float | np.floating) and not float(value).is_integer():
        raise ValueError(f"{named(value)} came; {wanted}")
    low, high = limits(dtype)
    if not low <= int(value) <= high:
        raise ValueError(f"{named(value)} came; one from {low} to {high}, {dtype}, is wanted")
    return dtype.type(int(value))


def _rounded(dtype: np.dtype, value: Any) -> np.generic:
    try:
        with np.errstate(all="ignore"):
            converted: Any = np.asarray(value).astype(dtype)[()]
    except OverflowError:  # an integer beyond all floats
        converted = dtype.type(np.inf)
    if dtype.kind != "b" and np.isinf(converted) and (isinstance(value, int) or not np.isinf(value)):
        high = np.finfo(dtype).max
        raise ValueError(f"{named(value)} came; one from -{high!s} to {high!s}, {dtype}, is wanted")
    return converted
