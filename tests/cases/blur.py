import numpy as np


def make_inputs(size):
    w = int(size**0.5) + 1
    return np.random.default_rng(1).random((size // w, w), np.float32), size // w, w


def reference(x, h, w):
    p = np.pad(x.astype("f8"), 1, "edge") if h else np.zeros((2, w + 2))
    return (p[1:-1, 1:-1] + p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]) / 5


def launch(_, h, w):
    return (w // 32 + 1, h // 8 + 1), (32, 8)
