import numpy as np

Particle = np.dtype([("x", "f4"), ("y", "f4"), ("vx", "f8"), ("vy", "f8"), ("kind", "u1")], align=True)


def arguments(size):
    particles = np.array([(i, 1, i / 2, -i, i % 7) for i in range(size)], Particle)
    return {"particles": particles, "n": np.int32(size), "seconds": np.float32(0.25)}


def reference(particles, seconds):
    moved = particles.copy()
    for axis in ("x", "y"):
        moved[axis] += seconds * moved[f"v{axis}"]
    return {"particles": moved}
