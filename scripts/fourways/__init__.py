"""Four Ways: helpers for the lessons. One CUDA kernel, four ways from Python.

Each package or module serves one purpose. A package exports its public names in its `__init__.py`, and imports only
public names of packages in lower layers; CONTRIBUTING.md lists the layers.
"""

__version__ = "0.1.0"
