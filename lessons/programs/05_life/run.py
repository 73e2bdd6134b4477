"""Check the module `life`, and time 1,000 generations: a loop in Python, a loop in C++, a CUDA graph."""

import time
from types import SimpleNamespace

import cupy as cp
import life
import numpy as np

STEPS = 1000


def right(u):
    """Return the next generation, by NumPy."""
    nine = sum(np.roll(u, (down, right), (0, 1)) for down in (-1, 0, 1) for right in (-1, 0, 1))
    return ((nine == 3) | ((nine == 4) & (u == 1))).astype(np.uint8)


def in_python(u, v):
    for _ in range(STEPS):
        life.step(u, v)
        u, v = v, u
    return u


def seconds(call, rounds=15):
    """Return the median seconds until a call and its work on the GPU are done."""
    taken = []
    for _ in range(3 + rounds):  # the first three warm up
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        call()
        cp.cuda.Device().synchronize()
        taken.append(time.perf_counter() - start)
    return np.median(taken[3:])


first = np.random.default_rng(1).integers(0, 2, (256, 256), dtype=np.uint8)
u, v = cp.asarray(first), cp.empty((256, 256), cp.uint8)
assert (life.step(u, v).get() == right(first)).all()
told = v.__cuda_array_interface__  # a dictionary; data holds the address, and whether v is read-only
read_only = SimpleNamespace(__cuda_array_interface__=told | {"data": (v.data.ptr, True)})
wrong = [(v.astype(np.float32), 1), (v[:, ::2], 1), (v[:128], 1), (u, 1), (read_only, 1), (v, -1)]
for array, steps in wrong:
    try:
        life.step(u, array, steps)
        raise AssertionError("a wrong call was accepted")
    except (TypeError, ValueError) as error:
        print("refused:", error)

with cp.cuda.Stream(non_blocking=True) as stream:  # its pointer is in the arrays' dictionaries
    stream.begin_capture()
    life.step(u, v, STEPS)
    graph = stream.end_capture()
ends = [in_python(cp.asarray(first), v.copy()), life.step(cp.asarray(first), v.copy(), STEPS)]
graph.launch()
assert all((end == u).all() for end in ends), "the loops differ"
calls = {"Python": lambda: in_python(u, v), "C++": lambda: life.step(u, v, STEPS), "graph": graph.launch}
for name, call in calls.items():
    print(f"loop by {name:6}: {seconds(call) * 1e3:5.2f} ms for {STEPS:,} generations")
