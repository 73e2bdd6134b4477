import numpy as np

rtol, atol = 1e-6, 1e-6


def arguments(size):
    x, y = np.random.default_rng(1).standard_normal((2, size), dtype=np.float32)
    return {"z": x + 1j * y, "turned": None, "n": np.int32(size), "by": np.complex64(np.exp(0.3j))}


def reference(z, by):
    return {"turned": z.astype("c16") * by}
