import numpy as np

Pair = np.dtype([("first", "i2"), ("second", "f4")], align=True)
table, pairs = np.sqrt(np.arange(16, dtype="f4")), np.array([(1, 2), (3, 0.5)], Pair)
constants = {"table": table, "pairs": pairs, "lab::shift": np.array([3], np.int32)}


def arguments(size):
    return {"x": np.arange(size, dtype=np.int32) % 16, "y": None, "n": np.int32(size)}


def reference(x):
    of_pair = pairs["first"] * pairs["second"].astype("f8")
    return {"y": table[(x + 3) % 16] + of_pair[np.arange(x.size) % 2]}
