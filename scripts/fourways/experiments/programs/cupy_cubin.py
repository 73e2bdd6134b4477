"""CuPy loads the kernel's machine code from a file."""

# import
import sys

import cupy as cp
import numpy as np

# context
x = cp.asarray(np.full(1000, 3, np.float32))
y = cp.empty_like(x)

# load
kernel = cp.RawModule(path=sys.argv[2]).get_function("doublify")

# launch
kernel((4,), (256,), (x, y, np.int64(1000)))
cp.cuda.Device().synchronize()

# launches
for _ in range(int(sys.argv[1])):
    kernel((4,), (256,), (x, y, np.int64(1000)))
cp.cuda.Device().synchronize()

# check
assert (y.get() == 6).all()
