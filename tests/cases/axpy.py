import numpy as np

rtol, atol = 1e-6, 1e-6


def arguments(size):
    x, y = np.random.default_rng(1).standard_normal((2, size), dtype=np.float32)
    return {"a": np.float32(0.5), "x": x, "y": y, "n": np.int64(size)}


def reference(a, x, y):
    return {"y": a * x.astype("f8") + y}
