import numpy as np

sizes = (256,)


def arguments(size):
    a, b = np.random.default_rng(1).random((2, 16, 16), np.float32)
    return {"a": a, "b": b, "c": None}


def reference(a, b):
    return {"c": a.astype("f8") @ b}


def launch(size):
    return 1, (16, 16)
