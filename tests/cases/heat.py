import numpy as np


def arguments(size):
    n = round(size ** (1 / 3))
    counts = {name: np.int32(n) for name in ("nx", "ny", "nz")}
    return {"u": np.random.default_rng(1).random((n, n, n)), "v": None} | counts | {"c": np.float64(0.1)}


def reference(u, c):
    v, i = u.copy(), slice(1, -1)
    v[i, i, i] += c * (sum(np.roll(u, d, a) for d in (1, -1) for a in range(3)) - 6 * u)[i, i, i]
    return {"v": v}


def launch(size, u):
    return (len(u) // 8 + 1,) * 3, (8, 8, 8)
