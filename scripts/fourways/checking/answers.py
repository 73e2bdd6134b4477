"""What the judges of exercises share: the type of an answer that is a number, and an error as a verdict."""

import math
from typing import Any

import numpy as np


def not_yet(error: Exception) -> str:
    """Return "Not yet: " and the line of a compiler's or a kernel's error that says what is wrong."""
    lines = str(error).splitlines() or [type(error).__name__]
    told = (line for line in lines if "must be extern" in line or "error: " in line)
    return f"Not yet: {next(told, lines[0]).rpartition('error: ')[2]}"


def is_whole(answer: Any) -> bool:
    """Return whether an answer is a whole number of Python or NumPy, and no truth value."""
    return isinstance(answer, int | np.integer) and not isinstance(answer, bool)


def as_float(answer: Any) -> float | None:
    """Return a real number of Python or NumPy as a float, infinite if it is too large for one.

    Returns None for anything else, such as a text or a truth value.
    """
    value = answer[()] if isinstance(answer, np.ndarray) else answer  # an array without axes holds a number
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
