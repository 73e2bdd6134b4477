"""When is one program ahead of another? By their starts and launches. For your own, change what says CHANGE."""

import random
import subprocess
import sys
import time

import numpy as np

KERNEL = r"""
extern "C" __global__ void softsign(const float *x, float *y, long long n) // CHANGE the kernel
{ const long long i = blockIdx.x * 256LL + threadIdx.x; if (i < n) y[i] = x[i] / (1 + fabsf(x[i])); }
"""
BEGIN = f"import sys, time, numpy as np\nKERNEL, N, ROUNDS = {KERNEL!r}, *map(int, sys.argv[1:])\n"
BEGIN += "numbers = np.linspace(-9, 9, N, dtype=np.float32)\n"  # CHANGE the input
PYCUDA = """
import pycuda.autoprimaryctx, pycuda.compiler, pycuda.driver as drv
kernel = pycuda.compiler.SourceModule(KERNEL, no_extern_c=True).get_function("softsign")
x, y, wait = drv.to_device(numbers), drv.mem_alloc(4 * N), drv.Context.synchronize
launch = lambda: kernel(x, y, np.int64(N), grid=(-(-N // 256), 1), block=(256, 1, 1))
result = lambda: drv.from_device_like(y, numbers)
"""
CUPY = """
import cupy as cp
kernel = cp.RawModule(code=KERNEL).get_function("softsign")
x, y, wait = cp.asarray(numbers), cp.empty(N, np.float32), cp.cuda.Device().synchronize
launch = lambda: kernel((-(-N // 256),), (256,), (x, y, np.int64(N)))
result = lambda: y.get()
"""
END = """
def loop(waits):
    wait(); begin = time.perf_counter()
    for _ in range(100): launch()
    if waits: wait()
    return (time.perf_counter() - begin) / 100
launch(); right = np.allclose(result(), numbers / (1 + np.abs(numbers)), rtol=1e-6)  # CHANGE the answer
print(right, *(np.median([loop(waits) for _ in range(ROUNDS)]) for waits in (False, True)))
"""
PROGRAMS = {"PyCUDA": PYCUDA, "CuPy": CUPY}  # CHANGE the two programs


def run(name, n, rounds=1):  # seconds of the process, of a launch, and of a launch with its kernel
    begin, words = time.perf_counter(), [sys.executable, "-c", BEGIN + PROGRAMS[name] + END, str(n), str(rounds)]
    printed = subprocess.check_output(words, text=True).split()
    assert printed[0] == "True", f"{name}: a wrong answer"
    return time.perf_counter() - begin, *map(float, printed[1:])


turns = [name for _ in range(1 + 5) for name in random.sample(list(PROGRAMS), 2)]  # the first turn may compile
taken = [(name, run(name, 16)[0]) for name in turns][2:]
start = {each: float(np.median([seconds for name, seconds in taken if name == each])) for each in PROGRAMS}
for n in (2**10, 2**23):  # CHANGE the sizes
    each = {}
    for name in PROGRAMS:
        _, launch, each[name] = run(name, n, 21)
        times = f"launch {launch * 1e6:6.2f} µs, with its kernel {each[name] * 1e6:6.2f} µs"
        print(f"{n:9,} elements  {name:8} start {start[name]:.2f} s, {times}")
    (a, b), saved = PROGRAMS, np.subtract(*each.values())  # seconds that b saves with each launch
    launches = f"{max(0, start[b] - start[a]) / saved:,.0f}" if saved > 0.05 * each[a] else "no number of"
    print(f"{b} is ahead after {launches} launches")
