"""mu-law of float32 arrays on the GPU, by the machine code or the PTX in mulaw.fatbin."""

from importlib.resources import files

import cupy as cp
import numpy as np

module = cp.RawModule(path=str(files(__name__) / f"{__name__}.fatbin"))  # __name__ is "mulaw"


def mulaw(x, mu):  # CHANGE
    # CHANGE: a line for each input array, with its dtype
    x = cp.ascontiguousarray(x, cp.float32)
    y = cp.empty_like(x)  # CHANGE: shape and dtype of the output
    arguments = x, y, np.float32(mu), np.int64(x.size)  # CHANGE: scalars in the kernel's dtypes
    if x.size:  # CUDA refuses a grid of 0 blocks
        # CHANGE: grid, block
        module.get_function(__name__)(((x.size + 255) // 256,), (256,), arguments)
    return y
