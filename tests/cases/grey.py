import numpy as np


def arguments(size):
    rgb = np.random.default_rng(1).integers(0, 256, (size, 3), np.uint8)
    return {"rgb": rgb, "y": None, "n": np.uint32(size)}


def reference(rgb):
    return {"y": (rgb @ np.array([299, 587, 114]) + 500) // 1000}
