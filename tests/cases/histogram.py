import numpy as np

in_place = "counts"


def make_inputs(size):
    return np.random.default_rng(1).integers(0, 256, size, np.uint8), np.zeros(256, np.int32)


def reference(x, counts):
    return counts + np.bincount(x, minlength=256)


def launch(size):
    return 4, 256
