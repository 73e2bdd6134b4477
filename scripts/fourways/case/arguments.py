"""The values that a kernel takes."""

import warnings
from typing import Any

import numpy as np

from fourways.kernels import Parameter


def takes(parameter: Parameter, value: Any) -> Any:
    """The value as the kernel takes it: a C-contiguous NumPy array, a NumPy scalar of the dtype, a struct as `np.void`.

    Raises ValueError, which names the parameter, for what does not fit.
    """
    name, dtype = parameter.name, parameter.dtype
    if parameter.is_pointer:
        if not isinstance(value, np.ndarray):
            raise ValueError(f"{name} is a {type(value).__name__}; {parameter.type} wants a NumPy array")
        numbers, count = parameter.vector or (None, 0)
        if numbers and value.dtype == numbers:
            if value.shape[-1:] != (count,):
                raise ValueError(f"{name} has shape {value.shape}; {parameter.type} wants {count} along the last axis")
        elif value.dtype != dtype if dtype else numbers and value.itemsize != parameter.element_size:
            wanted = dtype or f"{numbers}, {count} along the last axis"
            raise ValueError(f"{name} has dtype {value.dtype}; {parameter.type} wants {wanted}")
        return np.ascontiguousarray(value).reshape(value.shape)
    if not dtype:
        found = np.asarray(value)
        if found.ndim or found.nbytes != parameter.size or found.dtype.kind not in "VS":
            raise ValueError(
                f"{name} has {found.nbytes} bytes; {parameter.type} wants {parameter.size}, as a scalar of a "
                "structured dtype: np.dtype([...], align=True) leaves the gaps that C leaves"
            )
        return found[()]
    found = np.asarray(value)
    if found.ndim or found.dtype.kind not in "biufc":
        raise ValueError(f"{name} is {value!r}; {parameter.type} wants a number")
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore", category=np.exceptions.ComplexWarning):
        number = found.astype(dtype)[()]
    if number != value and (np.dtype(dtype).kind in "biu" or number.dtype.kind != found.dtype.kind == "c"):
        raise ValueError(f"{name} is {value!r}, which {parameter.type} does not hold")
    return number
