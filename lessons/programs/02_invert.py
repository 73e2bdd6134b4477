"""Invert a grey image, y[i] = 255 - x[i]: how many bytes should a thread load at once?"""

import itertools

import cupy as cp
import numpy as np

n = 500_000_001  # pixels, one byte each
TEXT = r"""
struct alignas(VECTOR) Pack { unsigned char element[VECTOR]; };

extern "C" __global__ void invert(const unsigned char *__restrict__ x,
                                  unsigned char *__restrict__ y, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / VECTOR) {
        Pack p = ((const Pack *)x)[i];
        for (int k = 0; k < VECTOR; ++k)
            p.element[k] = 255 - p.element[k];
        ((Pack *)y)[i] = p;
    }
    if (i < n % VECTOR) { // the bytes behind the last pack
        const long long last = n - 1 - i;
        y[last] = 255 - x[last];
    }
}
"""
delay = cp.RawKernel(
    'extern "C" __global__ void delay(long long cycles)'
    "{ for (const long long start = clock64(); clock64() - start < cycles;) {} }",
    "delay",
)
x = (cp.arange(n, dtype=cp.uint32) * 2654435761 >> 24).astype(cp.uint8)  # bytes in disorder
y = cp.empty_like(x)
assert x.data.ptr % 16 == y.data.ptr % 16 == 0  # the kernel takes no view such as x[1:]


def variant(vector, threads):
    """Return a launch of the kernel for `vector` bytes a thread, after a checked one."""
    kernel = cp.RawModule(code=TEXT, options=(f"-DVECTOR={vector}",)).get_function("invert")
    blocks = (n + vector * threads - 1) // (vector * threads)  # rounded up
    y[...] = x  # wrong everywhere
    kernel((blocks,), (threads,), (x, y, np.int64(n)))
    assert (y == 255 - x).all()
    return lambda: kernel((blocks,), (threads,), (x, y, np.int64(n)))


calls = {"copy": lambda: y.data.copy_from_device_async(x.data, n)}
for vector, threads in itertools.product((1, 4, 16), (64, 256, 1024)):
    calls[f"{vector} bytes a thread, {threads} threads"] = variant(vector, threads)
samples = {name: [] for name in calls}
for _ in range(23):
    for name, call in calls.items():  # in turns
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        delay((1,), (1,), (np.int64(400_000),))  # keeps the GPU busy until all is queued
        start.record(), call(), stop.record(), stop.synchronize()
        samples[name].append(cp.cuda.get_elapsed_time(start, stop) / 1e3)
for name, seconds in samples.items():
    median = float(np.median(seconds[3:]))  # the first three warm up
    print(f"{name:32} {median * 1e3:6.2f} ms, {2 * n / median / 1e12:.2f} TB/s")
