import numpy as np

options = ("-DTAPS=8",)


def arguments(size):
    x, taps = np.random.default_rng(1).random(size + 7, np.float32), np.hanning(10)[1:9].astype(np.float32)
    return {"x": x, "taps": taps, "y": None, "n": np.int32(size)}


def reference(x, taps):
    return {"y": np.correlate(x.astype("f8"), taps.astype("f8"), "valid") if x.size > 7 else np.zeros(0)}
