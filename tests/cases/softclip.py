import numpy as np

Knee = np.dtype([("low", "f4"), ("high", "f4")], align=True)
rtol, atol = 1e-5, 1e-6


def make_inputs(size):
    x, bias = np.random.default_rng(1).standard_normal((2, size), dtype=np.float32)
    return x, bias, 1.5, np.array((-1, 2), Knee)


def reference(x, bias, gain, knee):
    middle, half = (knee["low"] + knee["high"]) / 2, (knee["high"] - knee["low"]) / 2
    return middle + half * np.tanh((gain * (x + bias.astype("f8")) - middle) / half)
