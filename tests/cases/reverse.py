import numpy as np

TILE = 96 * 1024 // 4


def make_inputs(size):
    return (np.arange(size, dtype=np.int32),)


def reference(x):
    return np.concatenate([x[i : i + TILE][::-1] for i in range(0, x.size, TILE)] or [x])


def launch(size):
    return max(1, -(-size // TILE)), 256, 96 * 1024
