"""PyCUDA without CuPy; the compiled kernel comes from PyCUDA's cache."""

# import
import sys
from pathlib import Path

import numpy as np
from pycuda import driver
from pycuda.compiler import SourceModule

# context
driver.init()
context = driver.Device(0).retain_primary_context()
context.push()
x = driver.to_device(np.full(1000, 3, np.float32))
y = driver.mem_alloc(4000)

# load
kernel = SourceModule(Path(sys.argv[2]).read_text(), no_extern_c=True).get_function("doublify")

# launch
kernel(x, y, np.int64(1000), grid=(4, 1), block=(256, 1, 1))
context.synchronize()

# launches
for _ in range(int(sys.argv[1])):
    kernel(x, y, np.int64(1000), grid=(4, 1), block=(256, 1, 1))
context.synchronize()

# check
answer = np.empty(1000, np.float32)
driver.memcpy_dtoh(answer, y)
assert (answer == 6).all()
context.pop()
