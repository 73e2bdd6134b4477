import numpy as np

TILE = 96 * 1024 // 4


def arguments(size):
    return {"x": np.arange(size, dtype=np.int32), "y": None, "n": np.int32(size)}


def reference(x):
    return {"y": np.concatenate([x[i : i + TILE][::-1] for i in range(0, x.size, TILE)] or [x])}


def launch(size):
    return max(1, -(-size // TILE)), 256, 96 * 1024
