import numpy as np

sizes = (1, 33, 257, 1009)


def arguments(size):
    x, y = np.random.default_rng(1).uniform(-1.5, 1.5, (2, size))
    return {"z": x + 1j * y, "steps": None, "c": np.complex128(-0.5 + 0.25j), "n": np.int32(size)}


def reference(z, c):
    w, steps = z.copy(), np.zeros(z.size, int)
    for _ in range(100):
        inside = w.real**2 + w.imag**2 <= 4
        steps += inside
        w[inside] = w[inside] ** 2 + c
    return {"steps": steps}
