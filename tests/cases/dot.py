import numpy as np

in_place, rtol, atol = "sum", 1e-9, 1e-9


def make_inputs(size):
    return *np.random.default_rng(1).standard_normal((2, size)), np.zeros(1)


def reference(x, y, sum):
    return sum + x @ y


def launch(size):
    return 4, 256
