import numpy as np

Range = np.dtype([("x", "f4"), ("y", "f4")])
Band = np.dtype([("odd", "u8"), ("range", Range), ("name", "i1")], align=True)
sizes = (0, 1, 33, 1000, 1009)
derived = {"n": "x.size", "y": "x.shape", "keys": "(n // 2,)", "grid": "-(-n // 128)", "block": "128"}


def arguments(size):
    x = np.random.default_rng(size).uniform(-300, 300, size).astype(np.float32)
    band = np.array((2**63 + 5, (-1, 200), 7), Band)
    numbers = {"n": np.uint32(size), "seed": np.uint64(2**63 + 1), "shift": np.uint8(200), "band": band}
    return {"x": x, "y": None, "keys": None} | numbers


def reference(x, n, seed, shift, band):
    keys = (np.arange(n // 2, dtype=np.uint64) ^ seed) * band["odd"]
    return {"y": np.clip(x + np.float32(shift), *band["range"].item()), "keys": keys}


def launch(size, **arguments):
    return -(-size // 128) or 1, 128
