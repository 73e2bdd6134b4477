"""Four Ways: helpers for the lessons. One CUDA kernel, four ways from Python.

A room a capability: `toolchain`, `host`, `building`, `install`, `doctor`, `lesson`, `sass`, `checking`, `timing`,
`timeline`, `profiling`, `linking`, `choosing`, `book`, `cli`; below them `kernels`, `files`, `tables`, `figures`,
`stages`.
What a room hands out stands in its `__init__.py`; a room imports from rooms below it, and from their faces alone.
`fourways.checked` is `checking.checked`.
"""

import importlib
from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name == "checked":  # imported when it is asked for: its room is slow to import
        return importlib.import_module("fourways.checking").checked
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
