import numpy as np


def make_inputs(size):
    return (np.random.default_rng(1).standard_normal(size, dtype=np.float32),)


def reference(x):
    return np.min(x, initial=np.inf, keepdims=True), np.max(x, initial=-np.inf, keepdims=True)


def launch(size):
    return 1, 256
