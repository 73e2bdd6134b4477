import numpy as np


def arguments(size):
    w = int(size**0.5) + 1
    x = np.random.default_rng(1).random((size // w, w), np.float32)
    return {"x": x, "y": None, "h": np.int32(size // w), "w": np.int32(w)}


def reference(x, h, w):
    p = np.pad(x.astype("f8"), 1, "edge") if h else np.zeros((2, w + 2))
    return {"y": (p[1:-1, 1:-1] + p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]) / 5}


def launch(_, h, w):
    return (int(w) // 32 + 1, int(h) // 8 + 1), (32, 8)
