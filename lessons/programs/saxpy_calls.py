"""Make `calls`, which launch saxpy at several sizes: `saxpy_calls.py FILE SIZE …`."""

import sys
from functools import partial
from pathlib import Path

import cupy as cp
import numpy as np

saxpy = cp.RawKernel(Path(sys.argv[1]).read_text(), "saxpy")
sizes = [int(size) for size in sys.argv[2:]]
x, y, z = (cp.full(max(sizes), value, cp.float32) for value in (0.5, 1, 0))
a = np.float32(2.5)
calls = [
    partial(saxpy, ((n + 1023) // 1024,), (256,), (a, x, y, z, np.int64(n))) for n in sizes
]
