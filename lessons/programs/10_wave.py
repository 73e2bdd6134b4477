"""A step of the wave equation from its formula: text by pystencils 2.1, launch by CuPy. How near to a copy's rate?"""

import functools
import random
import tempfile
from pathlib import Path

import cupy as cp
import numpy as np
import pystencils as ps
import sympy

EDGE = 1  # CHANGE: how many cells the formula reaches in each direction
new, now, old = ps.fields("new, now, old: float32[2D]")  # CHANGE: names, dtypes
c, across, down, bend = sympy.symbols("c, across, down, bend")
FORMULA = [  # CHANGE: a name for each sum whose order matters
    ps.Assignment(across, now[0, -1] + now[0, 1]),
    ps.Assignment(down, now[-1, 0] + now[1, 0]),
    ps.Assignment(bend, across + down - 4 * now[0, 0]),
    ps.Assignment(new[0, 0], 2 * now[0, 0] - old[0, 0] + c * bend),
]
how = {"default_dtype": "float32", "target": ps.Target.CUDA, "jit": ps.no_jit}  # CHANGE: the dtype of c
kernel = ps.create_kernel(FORMULA, function_name="wave", **how)
# CHANGE: a formula with random numbers or atomics needs `kernel.required_headers`, too
prelude = '#include <cuda/std/cstdint>\n#define RESTRICT __restrict__\nextern "C" '
file = Path(tempfile.gettempdir(), "wave.cu")
file.write_text(prelude + kernel.get_c_code() + "\n")

now, old = cp.random.default_rng(1).random((2, 6000, 10_240), dtype=cp.float32)
given = {"new": cp.full_like(now, np.nan), "now": now, "old": old, "c": 0.3}  # CHANGE: arrays, numbers
bend = (now[1:-1, :-2] + now[1:-1, 2:]) + (now[:-2, 1:-1] + now[2:, 1:-1]) - 4 * now[1:-1, 1:-1]
right = 2 * now[1:-1, 1:-1] - old[1:-1, 1:-1] + np.float32(0.3) * bend  # CHANGE: the answer, in that order
arrays = {f"_data_{name}": array for name, array in given.items() if isinstance(array, cp.ndarray)}
values = given | arrays
for name, array in arrays.items():  # sizes and strides by the names of the text, in elements
    values |= {name.replace("data", "size", 1) + f"_{axis}": n for axis, n in enumerate(array.shape)}
    values |= {name.replace("data", "stride", 1) + f"_{k}": n // array.itemsize for k, n in enumerate(array.strides)}
dtypes = {each.name: each.dtype.numpy_dtype.type for each in kernel.parameters if each.name not in arrays}
arguments = [dtypes.get(each.name, cp.asarray)(values[each.name]) for each in kernel.parameters]
grid = tuple(-(-(n - 2 * EDGE) // threads) for n, threads in zip(now.shape[::-1], (128, 2), strict=True))
assert min(grid) > 0, "no inner cells: CUDA refuses a grid without blocks"
calls, samples = {}, {}
for name, options in {"generated": (), "-fmad=false": ("-fmad=false",)}.items():
    compiled = cp.RawModule(code=file.read_text(), options=("-std=c++17", *options)).get_function("wave")
    calls[name] = functools.partial(compiled, grid, (128, 2), arguments)
    given["new"].fill(np.nan)  # so that an old answer is no answer
    calls[name]()
    differing = int((given["new"][1:-1, 1:-1] != right).sum())  # a NaN differs, too
    print(f"{name}: {differing:,} of {right.size:,} inner cells differ")
assert differing == 0  # CHANGE: compare with a tolerance, if you need no equal bits
calls["copy"] = lambda: given["new"].data.copy_from_device_async(now.data, now.nbytes)
moved = {"copy": 2 * now.nbytes}  # bytes read and written
for name in [each for _ in range(7) for each in random.sample(list(calls), 3)]:  # in turns, by lot
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record(), [calls[name]() for _ in range(20)], stop.record(), stop.synchronize()
    samples.setdefault(name, []).append(cp.cuda.get_elapsed_time(start, stop) / 20e3)
for name, taken in samples.items():
    rate = moved.get(name, 3 * now.nbytes) / np.median(taken[1:])  # CHANGE: 3 arrays, each once
    print(f"{name}: {np.median(taken[1:]) * 1e6:.0f} µs, {rate / 1e12:.2f} TB/s")
