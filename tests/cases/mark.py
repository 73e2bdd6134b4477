import numpy as np

sizes = (1, 100, 1000)


def arguments(size):
    rng = np.random.default_rng(1)
    neighbour, front = rng.integers(0, size, size, np.int32), rng.random(size) < 0.5
    level = np.zeros(size, np.int32)
    return {"neighbour": neighbour, "front": front, "level": level, "n": np.int32(size), "step": np.int32(3)}


def reference(neighbour, front, level, step):
    marked = level.copy()
    marked[neighbour[front]] = step
    return {"level": marked}
