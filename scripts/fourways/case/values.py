"""The arrays and numbers of a case, as its kernel takes them: inputs, the reference's outputs, and blank outputs."""

from typing import Any

import numpy as np

from fourways import arguments
from fourways.case.file import CaseFile
from fourways.case.structs import struct
from fourways.kernels import Parameter, Signature


def taken(signature: Signature, given: CaseFile, parameter: Parameter, value: Any) -> Any:
    """The value as the kernel takes it: a C-contiguous NumPy array, a NumPy scalar of the dtype, a struct as `np.void`.

    Raises CaseError, which names the parameter, for what does not fit.
    """
    try:
        if parameter.is_pointer:
            return _array(parameter, value)
        if parameter.dtype:
            return arguments.number(np.dtype(parameter.dtype), value)
        whole: Any = arguments.struct(parameter, value)
        return whole[()]
    except (TypeError, ValueError) as error:
        given.refuse(f"{parameter.name}: {error}; the kernel is {signature}")


def _array(parameter: Parameter, value: Any) -> np.ndarray:
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{arguments.named(value)} came; {parameter.type} wants a NumPy array")
    numbers, count = parameter.vector or (parameter.dtype, 0)
    last = f", {count} along the last axis" if count else ""
    if not arguments.element_fits(parameter, value.dtype):
        wanted = parameter.dtype or numbers or f"elements of {parameter.element_size} bytes"
        raise TypeError(f"an array of {value.dtype} came; {parameter.type} wants {wanted}{last}")
    if count and value.dtype == numbers and value.shape[-1:] != (count,):
        raise ValueError(f"shape {value.shape} came; {parameter.type} wants {count} along the last axis")
    return np.ascontiguousarray(value).reshape(value.shape)


def right_output(given: CaseFile, parameter: Parameter, array: Any, before: np.ndarray | None) -> np.ndarray:
    """An output of the reference in the kernel's dtype; `before` is what it holds before the launch, or None.

    Raises CaseError, which names the parameter, for another shape or dtype, and for NaN.
    """
    name, dtype, right = parameter.name, parameter.dtype, np.asarray(array)
    is_pairs = right.ndim > 1 and right.shape[-1] == 2  # pairs of real numbers, in place of complex numbers
    if parameter.vector and right.dtype.kind in "biuf" and (is_pairs or not dtype):
        dtype, count = parameter.vector  # the numbers of an element along the last axis
        if right.shape[-1:] != (count,):
            given.refuse(f"reference gives shape {right.shape} for {name}; {parameter.type} wants {count} last")
    if dtype and not np.can_cast(right.dtype, dtype, "same_kind"):
        given.refuse(f"reference gives {right.dtype} for {name}; {parameter.type} wants {dtype}")
    if before is not None and right.shape != before.shape:
        given.refuse(f"reference gives shape {right.shape} for {name}, whose values before have {before.shape}")
    with np.errstate(over="ignore"):  # a number too large for the dtype is infinite in it
        converted = np.ascontiguousarray(right, dtype).reshape(right.shape)
    if converted.dtype.kind in "iu" and (place := _first(converted != right)) is not None:
        given.refuse(f"reference gives {right.flat[place]} for {name}, at element {place}: no {dtype} holds it")
    if (place := first_nan(converted)) is not None:
        given.refuse(f"reference gives NaN for {name}, at element {place}: NaN is never right")
    return converted


def blank_output(given: CaseFile, source: str, size: int, parameter: Parameter) -> np.ndarray:
    """An output of `size` elements of the kernel's dtype, NaN or -1. `source` tells the fields of a struct.

    Raises CaseError where nothing tells the size of an element.
    """
    dtype, count = (parameter.dtype, 1) if parameter.dtype else parameter.vector or (None, 1)
    element = np.dtype(dtype) if dtype else struct(parameter, source)
    if not element:
        given.refuse(f"without a reference nothing tells what {parameter.name} holds: {parameter.why}")
    array = np.full(size * count * element.itemsize, 255, np.uint8).view(element)
    return array if parameter.dtype or not dtype else array.reshape(-1, count)


def _first(places: np.ndarray) -> int | None:
    """The number of the first element that is true."""
    return int(places.argmax()) if places.any() else None


def first_nan(array: np.ndarray) -> int | None:
    """The number of the first element that is NaN, or holds one in a field."""
    nan = np.zeros(array.shape, bool)
    for name in array.dtype.names or (...,):
        numbers = array[name]
        if numbers.dtype.kind in "fc":
            nan |= np.isnan(numbers).any(axis=tuple(range(array.ndim, numbers.ndim)))  # a field may be an array
    return _first(nan)


def read_only(value: Any) -> Any:
    """An array that a reference cannot change: the ways get it, too."""
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value
