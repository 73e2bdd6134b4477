import numpy as np

derived = {"n": "x.size", "counts": "(256,)", "grid": "4", "block": "256"}


def arguments(size):
    x = np.random.default_rng(1).integers(0, 256, size, np.uint8)
    counts = np.arange(256, dtype=np.int32)  # given, so changed in place. Not 0: the kernel adds
    shift = np.int32(size % 3)  # one shift alone would not tell a kernel that ignores it
    return {"x": x, "counts": counts, "n": np.uint64(size), "shift": shift}


def reference(x, counts, shift):
    return {"counts": counts + np.bincount(x >> shift, minlength=256)}


def launch(size):  # the grid and the block: numbers, or tuples of up to three
    return 4, 256
