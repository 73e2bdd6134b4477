"""The launch of a case: its own, or an element a thread."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from fourways import host
from fourways.case.file import CaseFile
from fourways.case.roles import count
from fourways.kernels import Limits

THREADS = 256

Shape = tuple[tuple[int, ...], tuple[int, ...], int]
"""Grid, block, and bytes of dynamic shared memory."""


def shape(given: CaseFile, limits: Limits, size: int, *inputs: Any) -> Shape:
    """The launch of a case for a size and the inputs that its launch takes; of an array, the shape.

    Raises CaseError for a launch that is impossible, or is so by the kernel's `limits`.
    """
    if "launch" not in given:
        return _checked(given, limits, size, (max(1, -(-size // THREADS)),), (THREADS,), 0)
    seen = (SimpleNamespace(shape=each) if isinstance(each, tuple) else each for each in inputs)
    launch = given.called("launch", size, *seen)
    if len(launch) not in (2, 3):
        given.refuse(f"launch({size}) gives {count(launch, 'value')}; wanted grid, block and, if any, shared bytes")
    for name, each in zip(("grid", "block"), launch, strict=False):
        if not isinstance(each, tuple | int | np.integer):
            given.refuse(f"launch({size}): {name} is {each!r}; wanted an int, or a tuple of one to three")
    grid, block = (each if isinstance(each, tuple) else (each,) for each in launch[:2])
    return _checked(given, limits, size, grid, block, launch[2] if len(launch) == 3 else 0)


def _checked(given: CaseFile, limits: Limits, size: int, grid: tuple, block: tuple, shared: int) -> Shape:
    try:
        host.check_shape(grid, block, shared, limits=limits)
    except (TypeError, ValueError) as error:
        given.refuse(f"launch({size}): {error}")
    return tuple(map(int, grid)), tuple(map(int, block)), int(shared)
