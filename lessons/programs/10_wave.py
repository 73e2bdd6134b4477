"""A step of the wave equation from its formula: text by pystencils 2.1, launch by CuPy."""

import functools
import random
import tempfile
from pathlib import Path

import cupy as cp
import numpy as np
import pystencils as ps
import sympy

# CHANGE; EDGE: how many cells the formula reaches each way
NAME, EDGE, DTYPE = "wave", 1, np.float32
new, now, old = ps.fields(f"new, now, old: {DTYPE.__name__}[2D]")  # CHANGE: the fields' names
# CHANGE: other names
c, across, down, around, bend, ahead = sympy.symbols("c, across, down, around, bend, ahead")
FORMULA = [  # CHANGE: a name for each sum of two terms
    ps.Assignment(across, now[0, -1] + now[0, 1]),
    ps.Assignment(down, now[-1, 0] + now[1, 0]),
    ps.Assignment(around, across + down),
    ps.Assignment(bend, around - 4 * now[0, 0]),
    ps.Assignment(ahead, 2 * now[0, 0] - old[0, 0]),
    ps.Assignment(new[0, 0], ahead + c * bend),
]
plate = functools.partial(cp.random.default_rng(1).random, (6000, 10_240), DTYPE)
u, before, number, answer = plate(), plate(), DTYPE(0.3), plate()  # CHANGE: arrays and numbers
# CHANGE: their names in the formula
given = {"now": u, "old": before, "c": number, "new": answer}
# CHANGE: the right inner cells, in that order
sides = (u[1:-1, :-2] + u[1:-1, 2:]) + (u[:-2, 1:-1] + u[2:, 1:-1])
# CHANGE
right = (2 * u[1:-1, 1:-1] - before[1:-1, 1:-1]) + number * (sides - 4 * u[1:-1, 1:-1])

kernel = ps.create_kernel(
    FORMULA, function_name=NAME, default_dtype=DTYPE, target=ps.Target.CUDA, jit=ps.no_jit
)
text = (
    '#include <cuda/std/cstdint>\n#define RESTRICT __restrict__\nextern "C" '
    + kernel.get_c_code()
    + "\n"
)
Path(tempfile.gettempdir(), f"{NAME}.cu").write_text(text)
arrays, values = (
    {name: each for name, each in given.items() if isinstance(each, cp.ndarray)},
    dict(given),
)
# what the text calls an array's address, sizes, and strides in elements
for name, array in arrays.items():
    values[f"_data_{name}"] = array
    for axis in range(array.ndim):
        values[f"_size_{name}_{axis}"] = array.shape[axis]
        values[f"_stride_{name}_{axis}"] = array.strides[axis] // array.itemsize
arguments = []
for each in kernel.parameters:  # in the text's order, each number with the text's dtype
    value = values[each.name]
    arguments.append(
        value if isinstance(value, cp.ndarray) else each.dtype.numpy_dtype.type(value)
    )
inner = tuple(slice(EDGE, n - EDGE) for n in answer.shape)
grid = tuple(
    -(-(n - 2 * EDGE) // threads)
    for n, threads in zip(answer.shape[::-1], (128, 2), strict=True)
)
calls, samples = {"copy": lambda: answer.data.copy_from_device_async(u.data, u.nbytes)}, {}
for name, options in {"generated": (), "-fmad=false": ("-fmad=false",)}.items():
    # the header needs C++17
    compiled = cp.RawModule(code=text, options=("-std=c++17", *options)).get_function(NAME)
    calls[name] = functools.partial(compiled, grid, (128, 2), tuple(arguments))
    # CHANGE for integers: `answer[inner] = ~right`; an old answer is no answer
    answer.fill(np.nan)
    calls[name]()
    # CHANGE: `~cp.isclose(…)`, if you need no equal bits
    differing = int((answer[inner] != right).sum())
    print(f"{name}: {differing:,} of {right.size:,} inner cells differ")
assert differing == 0
# in turns, by lot
for name in [each for _ in range(7) for each in random.sample(list(calls), 3)]:
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record(), [calls[name]() for _ in range(20)], stop.record(), stop.synchronize()
    samples.setdefault(name, []).append(cp.cuda.get_elapsed_time(start, stop) / 20e3)
for name, taken in samples.items():
    # each array once
    moved = 2 * u.nbytes if name == "copy" else sum(each.nbytes for each in arrays.values())
    print(
        f"{name}: {np.median(taken[1:]) * 1e6:.0f} µs, "
        f"{moved / np.median(taken[1:]) / 1e12:.2f} TB/s"
    )
