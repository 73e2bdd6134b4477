"""The calls that the clocks time: saxpy on arrays that all of them share, and work that keeps the GPU busy."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from fourways import timing

Call = Callable[[], Any]
Timer = Callable[[Call], float]
"""A function that runs a call and returns the seconds of one sample."""
Saxpy = Callable[[Any, Any, Any, Any], Any]
"""A way's function of a, x, y and z."""


def longest() -> int:
    """Return the number of elements of the longest kernel: 2²⁸, or the largest power of two that fits the GPU."""
    return timing.gpu_size(bytes_per_element=12, most=2**28)


@functools.cache
def _arrays() -> tuple[Any, Any, Any]:
    import cupy as cp

    x, y = cp.full(longest(), 1 / 3, cp.float32), cp.ones(longest(), cp.float32)
    return x, y, cp.empty_like(x)


def on_gpu(saxpy: Saxpy, size: int | None = None) -> Call:
    """Return a call without arguments: `saxpy(a, x, y, z)` for the first `size` elements of float32 arrays on the GPU.

    All calls share three arrays of `longest()` elements, which is the default of `size`.
    """
    x, y, z = _arrays()
    return functools.partial(saxpy, np.float32(2.5), x[:size], y[:size], z[:size])


def busy() -> None:
    """Keep the GPU busy for about 0.2 ms, so that Python can queue what comes next meanwhile; wait for nothing."""
    timing.occupy(0.2e-3)
