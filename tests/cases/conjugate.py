import numpy as np


def arguments(size):
    x, y = np.random.default_rng(1).standard_normal((2, size), dtype=np.float32)
    return {"z": x + 1j * y, "n": np.int64(size)}


def reference(z):
    return {"z": z.conj()}
