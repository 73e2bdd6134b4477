"""Add bytes in place, y[i] += x[i]: how many bytes should a thread load at once?"""

import itertools
import random

import cupy as cp
import numpy as np

n = 500_000_001  # bytes of x, and of y
TEXT = r"""
struct alignas(VECTOR) Pack { unsigned char element[VECTOR]; };

extern "C" __global__ void add(const unsigned char *x, unsigned char *y, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / VECTOR) {
        const Pack p = ((const Pack *)x)[i];
        Pack sum = ((const Pack *)y)[i];
        for (int k = 0; k < VECTOR; ++k)
            sum.element[k] += p.element[k];
        ((Pack *)y)[i] = sum;
    }
    if (i < n % VECTOR) // the bytes behind the last pack
        y[n - 1 - i] += x[n - 1 - i];
}
extern "C" __global__ void delay(long long cycles)
{ for (const long long start = clock64(); clock64() - start < cycles;) {} }
"""
delay = cp.RawKernel(TEXT, "delay", ("-DVECTOR=1",))
x = (cp.arange(n, dtype=cp.uint32) * 2654435761 >> 24).astype(cp.uint8)  # bytes in disorder
before = x[::-1].copy()
y, right = before.copy(), before + x  # a sum above 255 wraps around, here and in the kernel
assert x.data.ptr % 16 == y.data.ptr % 16 == 0  # the kernel takes no view such as x[1:]


def variant(vector, threads):
    """Return a checked launch for `vector` bytes a thread, and the bytes that it moves."""
    kernel = cp.RawModule(code=TEXT, options=(f"-DVECTOR={vector}",)).get_function("add")
    grid = ((n + vector * threads - 1) // (vector * threads),)  # rounded up
    y[...] = before  # fresh input: each launch changes y
    kernel(grid, (threads,), (x, y, np.int64(n)))
    assert (y == right).all()
    moved = x.nbytes + 2 * y.nbytes  # reads x, reads and writes y
    return (lambda: kernel(grid, (threads,), (x, y, np.int64(n)))), moved


calls = {"copy": ((lambda: y.data.copy_from_device_async(x.data, n)), 2 * n)}
for vector, threads in itertools.product((1, 4, 16), (64, 256, 1024)):
    calls[f"{vector} bytes a thread, {threads} threads"] = variant(vector, threads)
samples = {name: [] for name in calls}
for _ in range(23):
    for name in random.sample(list(calls), len(calls)):  # in turns, by lot
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        delay((1,), (1,), (np.int64(400_000),))  # keeps the GPU busy until all is queued
        start.record(), calls[name][0](), stop.record(), stop.synchronize()
        samples[name].append(cp.cuda.get_elapsed_time(start, stop) / 1e3)
for name, (_, moved) in calls.items():
    median, copied = (np.median(samples[each][3:]) for each in (name, "copy"))  # 3 warm up
    print(f"{name:30} {median * 1e3:6.3f} ms, {moved / median / 1e12:.2f} TB/s,", end="")
    print(f" {moved / median / (2 * n / copied):.2f} of the copy")
