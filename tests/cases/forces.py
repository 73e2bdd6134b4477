import numpy as np

Pull = np.dtype([("strength", "f4"), ("softening", "f4")], align=True)
rtol, atol, sizes = 1e-4, 1e-4, (0, 1, 33, 257, 1000)


def arguments(size):
    particles = np.random.default_rng(1).random((size, 4), np.float32)
    first = np.linspace(0, size, 2 + size // 40).astype(np.int32)  # of each cell; after the last, the end
    return {"particles": particles, "first": first, "force": None, "felt": None, "pull": np.array((2, 0.01), Pull)}


def reference(particles, first, pull):
    p, cell = particles.astype("f8"), np.searchsorted(first, np.arange(len(particles)), "right")
    way, mass = p[None, :, :3] - p[:, None, :3], np.where(cell[:, None] == cell, p[:, 3], 0)
    distance = np.sqrt((way**2).sum(axis=2) + pull["softening"])
    p[:, :3] = pull["strength"] * p[:, 3:] * ((mass / distance**3)[..., None] * way).sum(axis=1)
    return {"force": p, "felt": np.stack([mass.sum(axis=1), (mass / distance).sum(axis=1)], axis=1)}


def launch(size, first):
    return first.size - 1, 32, 16 * 32
