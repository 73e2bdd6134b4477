import numpy as np


def arguments(size):
    x, limits = np.random.default_rng(1).integers(-100, 100, size, np.int16), np.array([-20, 50], np.int16)
    given = {"x": x, "found": None, "n": np.uint64(size), "low": limits[0], "high": limits[1]}
    return given | {"outside": np.bool_(True)}


def reference(x, low, high, outside):
    return {"found": ((low <= x) & (x <= high)) != outside}
