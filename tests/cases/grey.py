import numpy as np


def make_inputs(size):
    return (np.random.default_rng(1).integers(0, 256, (size, 3), np.uint8),)


def reference(rgb):
    return ((rgb @ np.array([299, 587, 114]) + 500) // 1000).astype(np.uint8)
