"""Multiply complex numbers in place, y[i] *= x[i]: how wide a load? What do options change?"""

import io
import random
import re
from pathlib import Path

import cupy as cp
import numpy as np
from cuda.core import Program, ProgramOptions

# CHANGE: the kernel, its file
NAME, TEXT = "in_place", Path(__file__).with_name("in_place.cu").read_text()
WIDTHS, WIDE = (1, 2, 4), 2  # CHANGE: elements a thread; WIDE of them have 16 bytes
OPTIONS = {"no option": {}, "-fmad=false": {"fma": False}, "-ftz=true": {"ftz": True}}
# CHANGE: f32 is PTX's word for a float
SEEK = r"(?:ld|st)\.global[.\w]*|(?:fma|add|sub|mul)[.\w]*f32"
n, near = 2**26 + 3, (1 + 2**-12) * (1 + 1j)
# CHANGE: inputs
x, before = (cp.random.default_rng(seed).random(2 * n, cp.float32) - 0.5 for seed in (1, 2))
x, before = x.view(cp.complex64), before.view(cp.complex64)  # CHANGE: their dtype
# CHANGE: the output, the right answer
y, right = before.copy(), before.astype(cp.complex128) * x
# CHANGE: the output last; reads x, reads and writes y
arrays, moved = (x, y), x.nbytes + 2 * y.nbytes
TELLING = {"denormal": (1e-40, 1), "near²": (near, near)}  # CHANGE: values for the arrays
DELAY = """extern "C" __global__ void delay(long long cycles) {
    for (const long long start = clock64(); clock64() - start < cycles;);
}"""
delay, arch = cp.RawKernel(DELAY, "delay"), cp.cuda.Device().compute_capability


def launch(kernel, width, threads, arrays):
    # the kernel takes no view such as x[1:]
    assert all(array.data.ptr % 32 == 0 for array in arrays)
    size = arrays[-1].size
    # CHANGE: numbers
    kernel((-(-size // (width * threads)),), (threads,), (*arrays, np.int64(size)))


calls = {"copy": lambda: y.data.copy_from_device_async(x.data, x.nbytes)}
tried = {
    f"{w * x.itemsize} bytes, {threads} threads": (w, threads, {})
    for w in WIDTHS
    for threads in (64, 256, 1024)
}
tried |= {name: (WIDE, 256, options) for name, options in OPTIONS.items()}
for name, (*shape, options) in tried.items():  # NVRTC without CuPy, which would add -ftz=true
    macro, report, module = ("VECTOR", str(shape[0])), io.StringIO(), cp.cuda.Module()
    told = ProgramOptions(
        arch=f"sm_{arch}", ptxas_options="-v", no_cache=True, define_macro=macro, **options
    )
    module.load(Program(TEXT, "c++", told).compile("cubin", logs=report).code)
    kernel = module.get_function(NAME)
    calls[name] = lambda kernel=kernel, shape=shape: launch(kernel, *shape, arrays)
    for size in (1, 7, n):  # no whole pack, few, all
        y[...] = before  # CHANGE: each launch changes y; fill a pure output with wrong numbers
        launch(kernel, *shape, [array[:size] for array in arrays])
        # CHANGE: five roundings; a part may cancel
        assert (abs(y - right) <= 3e-7 * abs(right))[:size].all()
    if name in OPTIONS:
        ptx = Program(TEXT, "c++", told).compile("ptx").code.decode()
        print(
            f"{name}:",
            re.search(r"Used \d+ registers", report.getvalue())[0],
            *sorted(set(re.findall(SEEK, ptx))),
        )
        for what, values in TELLING.items():
            # 64 elements are whole packs
            few = [cp.asarray(np.full(64, value, x.dtype)) for value in values]
            launch(kernel, *shape, few)
            print(f"    {what}: {few[-1].get()[0]:.3g}")
samples, start, stop = {name: [] for name in calls}, cp.cuda.Event(), cp.cuda.Event()
for _ in range(23):
    for name in random.sample(list(calls), len(calls)):  # in turns, by lot
        delay((1,), (1,), (np.int64(400_000),))  # keeps the GPU busy until all is queued
        start.record()
        calls[name]()
        stop.record()
        stop.synchronize()
        samples[name].append(cp.cuda.get_elapsed_time(start, stop) / 1e3)
for name, taken in samples.items():
    # the first three warm up
    median, copied = np.median(taken[3:]), np.median(samples["copy"][3:])
    rate = (2 * x.nbytes if name == "copy" else moved) / median
    share = rate * copied / 2 / x.nbytes
    print(f"{name:26} {median * 1e3:.3f} ms, {rate / 1e12:.2f} TB/s, {share:.2f} of the copy")
