"""A user's program: load the kernel of `mulaw`, check it, and say what was loaded."""

import time

import cupy as cp
import numpy as np
from mulaw import module, mulaw  # CHANGE

x = np.random.default_rng(1).uniform(-1, 1, 100_003).astype(np.float32)  # CHANGE
right = np.sign(x) * np.log1p(255.0 * np.abs(x)) / np.log1p(255)  # CHANGE
on_gpu, start = cp.asarray(x), time.perf_counter()  # the copy creates the context first
kernel = module.get_function("mulaw")  # CHANGE
# registers are known once it is loaded
seconds = kernel.num_regs and time.perf_counter() - start
assert np.allclose(mulaw(on_gpu, 255).get(), right, rtol=1e-5, atol=1e-6)  # CHANGE
assert mulaw(on_gpu[:0], 255).size == 0  # CHANGE
print(f"right, from PTX for {kernel.ptx_version}, loaded in {seconds * 1e3:.2f} ms")
