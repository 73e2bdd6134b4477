"""A learner in a class: one first result with lesson 01's kernel, then one edit; told when by standard input."""

import secrets
import sys
import time

import cupy as cp
import numpy as np

from fourways import kernels, toolchain


def result(text: str) -> None:
    """Compile the text with NVRTC, and launch its kernel on a million numbers."""
    kernel = cp.RawModule(code=text, backend="nvrtc").get_function("doublify")
    x = cp.ones(2**20, np.float32)
    y = cp.empty_like(x)
    kernel((4096,), (256,), (x, y, np.int64(x.size)))
    assert float(y[-1]) > 1


toolchain.activate()
source = kernels.source("doublify")
result(source)
print("ready", flush=True)
sys.stdin.readline()
start = time.perf_counter()
result(f"#define FACTOR {secrets.randbelow(2**20) + 2}\n{source}")
print(time.perf_counter() - start, flush=True)
sys.stdin.readline()
