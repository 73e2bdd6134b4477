import numpy as np

rtol = 1e-3


def make_inputs(size):
    return np.random.default_rng(1).standard_normal(size).astype(np.float16), 0.75


def reference(x, a):
    return (a.astype("f4") * x).astype(np.float16)
