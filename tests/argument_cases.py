"""Numbers given to a parameter of a kernel: the one table to which every way of launching is held.

`converted` is what the kernel gets, or the exception, where Python knows the signature: cases of kernels.
`unchecked` says whether CuPy's own launch hands the same number over; the host way takes no other, so that a kernel
that is right on the CPU is right on the GPU.
"""

from typing import Any, NamedTuple

import numpy as np


class Row(NamedTuple):
    """One number for one dtype."""

    dtype: str
    value: Any
    converted: Any
    unchecked: bool = False


ROWS = [
    Row("int32", 5, 5, unchecked=True),
    Row("int32", np.int32(-5), -5, unchecked=True),
    Row("int32", np.int64(5), 5),
    Row("int32", np.uint8(200), 200),
    Row("int32", 2**31 - 1, 2**31 - 1, unchecked=True),
    Row("int32", 2**31, ValueError),
    Row("int32", True, 1),
    Row("int32", 2.0, 2),
    Row("int32", 1.5, ValueError),
    Row("int32", 1j, TypeError),
    Row("int32", "5", TypeError),
    Row("int32", None, TypeError),
    Row("int64", np.int32(5), 5),
    Row("int64", np.int64(5), 5, unchecked=True),
    Row("int64", -(2**63), -(2**63), unchecked=True),
    Row("int64", 2**63, ValueError),
    Row("uint8", 255, 255, unchecked=True),
    Row("uint8", 256, ValueError),
    Row("uint8", -1, ValueError),
    Row("uint64", 2**64 - 1, 2**64 - 1, unchecked=True),
    Row("uint64", -1, ValueError),
    Row("float32", 1.5, 1.5),
    Row("float32", 1 / 3, np.float32(1 / 3)),
    Row("float32", np.float32(1.5), 1.5, unchecked=True),
    Row("float32", np.float64(1.5), 1.5),
    Row("float32", 2, 2),
    Row("float32", np.int8(2), 2),
    Row("float32", True, 1),
    Row("float32", float("inf"), np.inf),
    Row("float32", 1e39, ValueError),
    Row("float32", 10**400, ValueError),
    Row("float32", 1j, TypeError),
    Row("float32", "1.5", TypeError),
    Row("float64", 1.5, 1.5, unchecked=True),
    Row("float64", np.float32(1.5), 1.5),
    Row("float64", 2, 2),
    Row("bool", True, True, unchecked=True),
    Row("bool", np.bool_(False), False, unchecked=True),
    Row("bool", 1, True),
]
