import numpy as np

sizes = (0, 1, 33, 1009, 65_535)


def arguments(size):
    return {"y": None, "n": np.int32(size)}


def reference(n):
    return {"y": np.arange(n) ** 2}  # int64: the numbers fit
