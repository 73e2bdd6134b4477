import itertools

import numpy as np

Pull = np.dtype([("strength", "f4"), ("softening", "f4")], align=True)
rtol, atol, sizes = 1e-4, 1e-4, (0, 1, 33, 257, 1000)
THREADS = 32


def make_inputs(size):
    particles = np.random.default_rng(1).random((size, 4), np.float32)
    first = np.linspace(0, size, 2 + size // 40).astype(np.int32)  # of each cell; after the last, the end
    return particles, first, np.array((2, 0.01), Pull)


def reference(particles, first, pull):
    force, felt = particles.astype("f8"), np.zeros((len(particles), 2))
    for begin, end in itertools.pairwise(first):
        cell = particles[begin:end].astype("f8")
        way = cell[None, :, :3] - cell[:, None, :3]
        distance = np.sqrt((way**2).sum(axis=-1) + pull["softening"])
        part = pull["strength"] * cell[:, None, 3] * cell[None, :, 3] / distance**3
        force[begin:end, :3] = (part[..., None] * way).sum(axis=1)
        felt[begin:end, 0], felt[begin:end, 1] = cell[:, 3].sum(), (cell[:, 3] / distance).sum(axis=1)
    return force, felt


def launch(_, first):
    return first.shape[0] - 1, THREADS, 16 * THREADS
