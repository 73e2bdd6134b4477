import numpy as np

options = ("-DTAPS=8",)


def make_inputs(size):
    return np.random.default_rng(1).random(size + 7, np.float32), np.hanning(10)[1:9].astype(np.float32)


def reference(x, taps):
    return np.correlate(x.astype("f8"), taps.astype("f8"), "valid") if x.size > 7 else np.zeros(0)
