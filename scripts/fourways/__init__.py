"""Four Ways: helpers for the lessons. One CUDA kernel, four ways from Python.

Each package or module serves one purpose. A package exports its public names in its `__init__.py`, and imports only
public names of packages in lower layers; CONTRIBUTING.md lists the layers.
`fourways.checked` is `experiments.checked.checked`.
"""

import importlib
from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name == "checked":  # imported on demand: it is slow to import
        return importlib.import_module("fourways.experiments.checked").checked
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
