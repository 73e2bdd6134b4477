import numpy as np

kernel = "lab::scale<double, 4>"


def arguments(size):
    return {"x": np.linspace(-1, 1, size), "y": None, "n": np.int32(size)}


def reference(x):
    return {"y": 4 * x}
