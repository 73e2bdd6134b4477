"""Check the module `pulse`, and time 1,000 steps: a loop in Python, a loop in C++, a CUDA graph."""

import time

import cupy as cp
import numpy as np
import pulse  # CHANGE

STEPS, DT = 1000, 0.1
first = np.random.default_rng(1).random((2, 256, 256), np.float32) - np.float32(0.5)  # CHANGE: u and v
fields = [[*cp.asarray(first), *cp.empty((2, 256, 256), cp.float32)] for _ in range(5)]  # CHANGE: u, v, new_u, new_v


def right(u, v):  # CHANGE
    """Return the next u and v, by NumPy, in the dtype of u and v."""
    around = sum(np.roll(u, by, axis) for by in (1, -1) for axis in (0, 1))
    return u + DT * (around - 4 * u + u - u * u * u - v), v + DT * 0.1 * (u - v)


def in_python(u, v, new_u, new_v):  # CHANGE
    for _ in range(STEPS):
        pulse.step(u, v, new_u, new_v, DT)
        u, v, new_u, new_v = new_u, new_v, u, v


for steps, arrays in zip((1, 100), fields, strict=False):
    single, double = first, first.astype(np.float64)
    for _ in range(steps):
        single, double = right(*single), right(*double)
    came = [each.get() for each in pulse.step(*arrays, DT, steps)]
    error, rounding = (abs(np.subtract(each, double)).max() for each in (came, single))
    print(f"{steps:3} steps: off by {error:.1e} (NumPy in float32: {rounding:.1e})")
    assert error <= 4 * rounding

u, v, new_u, new_v = fields[2]
wrong = [(u, v.get(), new_u, 1), (u, v.astype(np.float64), new_u, 1), (u, v[:, ::2], new_u, 1)]  # CHANGE
for *arrays, steps in [*wrong, (u, v[:128], new_u, 1), (u, v, v, 1), (u, v, new_u, -1)]:  # CHANGE
    try:
        pulse.step(*arrays, new_v, DT, steps)
        raise AssertionError("a wrong call was accepted")
    except (TypeError, ValueError) as error:
        print("refused:", error)

with cp.cuda.Stream(non_blocking=True) as stream:  # its pointer is in the arrays' dictionaries
    stream.begin_capture()
    pulse.step(*fields[4], DT, STEPS)
    graph = stream.end_capture()
loops = {"Python": lambda: in_python(*fields[2]), "C++": lambda: pulse.step(*fields[3], DT, STEPS)}
loops["graph"] = graph.launch  # on the current stream: the default one, on which the fields were filled
for name, call in loops.items():
    taken = []
    for _ in range(3 + 15):  # the first three warm up
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        call()
        cp.cuda.Device().synchronize()
        taken.append(time.perf_counter() - start)
    print(f"loop by {name:6}: {np.median(taken[3:]) * 1e3:5.2f} ms for {STEPS:,} steps")
assert all((a == b).all() for end in fields[3:] for a, b in zip(end[:2], fields[2], strict=False)), "the loops differ"
