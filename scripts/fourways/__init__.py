"""Four Ways: helpers for the lessons. One CUDA kernel, four ways from Python."""

__version__ = "0.1.0"
