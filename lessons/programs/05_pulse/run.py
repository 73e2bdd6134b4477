"""Check the module `pulse`, and time 1,000 steps: loops in Python and C++, a CUDA graph."""

import timeit
from functools import partial
from types import SimpleNamespace

import cupy as cp
import numpy as np
import pulse as module  # CHANGE: the name

STEPS, DT = 1000, 0.1  # an even number of steps; CHANGE: the numbers …
step = partial(module.step, dt=DT)  # CHANGE: … and their names in step.cpp


# CHANGE: u, v, new_u and new_v; the new ones hold NaN, or a number that cannot be right
def fields(h, w):
    inputs = np.random.default_rng(1).random((2, h, w), np.float32) - np.float32(0.5)
    return [*cp.asarray(inputs), *cp.full((2, h, w), np.nan, cp.float32)]


def right(u, v):  # CHANGE: the next u and v by NumPy, in their dtype; a tuple, even of one
    around = sum(np.roll(u, by, axis) for by in (1, -1) for axis in (0, 1))
    return u + DT * (around - 4 * u + u - u * u * u - v), v + DT * 0.1 * (u - v)


def in_python(arrays):
    for _ in range(STEPS):
        step(*arrays)
        arrays = arrays[2:] + arrays[:2]  # CHANGE: each field trades places with its new values


for h, w, steps in ((1, 1, 1), (5, 65, 1), (256, 256, 100)):
    arrays = fields(h, w)
    single = [each.get() for each in arrays[:2]]  # CHANGE: the inputs
    double = [each.astype(np.float64) for each in single]
    for _ in range(steps):
        single, double = right(*single), right(*double)
    came = [each.get() for each in step(*arrays, steps=steps)]  # step returns a tuple
    error, rounding = (np.abs(np.subtract(each, double)).max() for each in (came, single))
    print(
        f"{h} × {w} cells, {steps} steps: off by {error:.1e} (NumPy in float32: {rounding:.1e})"
    )
    # CHANGE: the tolerance; integers: error == 0
    assert error <= 4 * max(rounding, np.finfo(np.float32).eps)
first, second, *others = fields(64, 64)
told = second.__cuda_array_interface__ | {"data": (second.data.ptr, True)}  # True: read-only
# in the place of the second
wrong = [second.get(), second.astype("complex64"), second[:, ::2], second[:32], first]
for each, steps in zip(
    [*wrong, SimpleNamespace(__cuda_array_interface__=told), second],
    [1] * 6 + [-1],
    strict=True,
):
    try:
        raise AssertionError(f"accepted: {step(first, each, *others, steps=steps)}")
    except (TypeError, ValueError) as error:
        print("refused:", error)

for side, rounds in ((256, 18), (4096, 12)):
    sets = [fields(side, side) for _ in range(3)]
    # its address is in the arrays' dictionaries
    with cp.cuda.Stream(non_blocking=True) as stream:
        stream.begin_capture()
        step(*sets[2], steps=STEPS)
        graph = stream.end_capture()
    loops = {
        "Python": partial(in_python, sets[0]),
        "C++": partial(step, *sets[1], steps=STEPS),
        "graph": graph.launch,
    }
    # twins show the noise; the graph, too, runs on the fields' default stream
    for name, call in [*loops.items()] * 2:
        taken = timeit.repeat(
            lambda call=call: (call(), cp.cuda.Device().synchronize()), number=1, repeat=rounds
        )[3:]
        print(f"{side}² cells, {name:6}: {np.median(taken) * 1e3:7.2f} ms for {STEPS:,} steps")
    assert all((a == b).all() for end in sets[1:] for a, b in zip(sets[0], end, strict=True)), (
        "the loops differ"
    )
