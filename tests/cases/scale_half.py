import numpy as np

rtol = 1e-3


def arguments(size):
    x = np.random.default_rng(1).standard_normal(size).astype(np.float16)
    return {"x": x, "y": None, "n": np.int32(size), "a": np.float16(0.75)}


def reference(x, a):
    return {"y": a.astype("f4") * x}
