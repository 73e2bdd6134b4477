import numpy as np


def make_inputs(size):
    n = round(size ** (1 / 3))
    return np.random.default_rng(1).random((n, n, n)), n, n, n, 0.1


def reference(u, nx, ny, nz, c):
    v, i = u.copy(), slice(1, -1)
    v[i, i, i] += c * (sum(np.roll(u, d, a) for d in (1, -1) for a in range(3)) - 6 * u)[i, i, i]
    return v


def launch(size):
    return (round(size ** (1 / 3)) // 8 + 1,) * 3, (8, 8, 8)
