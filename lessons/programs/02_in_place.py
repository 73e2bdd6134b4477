"""Multiply complex numbers in place, y[i] *= x[i]: how many should a thread load at once?"""

import itertools
import random

import cupy as cp
import numpy as np

n = 2**26 + 1  # CHANGE: elements of x, and of y
TEXT = r"""
typedef float2 Element; // CHANGE: a complex64 (.x real, .y imaginary); CUDA knows float2 without an include
struct alignas(sizeof(Element) * VECTOR) Pack { Element element[VECTOR]; };

__device__ Element result(Element p, Element q) // CHANGE: float2 has no operator *
{ return {p.x * q.x - p.y * q.y, p.x * q.y + p.y * q.x}; }
extern "C" __global__ void in_place(const Element *x, Element *y, long long n) // CHANGE: arrays
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / VECTOR) {
        Pack p = ((const Pack *)x)[i], q = ((const Pack *)y)[i];
        for (int k = 0; k < VECTOR; ++k) q.element[k] = result(p.element[k], q.element[k]);
        ((Pack *)y)[i] = q;
    }
    if (i < n % VECTOR) y[n - 1 - i] = result(x[n - 1 - i], y[n - 1 - i]); // behind the last pack
}
extern "C" __global__ void delay(long long cycles)
{ for (const long long start = clock64(); clock64() - start < cycles;) {} }
"""
delay = cp.RawKernel(TEXT, "delay", ("-DVECTOR=1",))
floats = (cp.random.default_rng(seed).random(2 * n, cp.float32) - 0.5 for seed in (1, 2))
x, before = (each.view(cp.complex64) for each in floats)  # CHANGE: the arrays
y, right = before.copy(), before.astype(cp.complex128) * x  # CHANGE: the right answer
assert x.data.ptr % 32 == y.data.ptr % 32 == 0  # the kernel takes no view such as x[1:]


def variant(vector, threads):
    """Return a checked launch for `vector` elements a thread, and the bytes that it moves."""
    kernel = cp.RawModule(code=TEXT, options=(f"-DVECTOR={vector}",)).get_function("in_place")
    blocks = (n + vector * threads - 1) // (vector * threads)  # rounded up
    launch = ((blocks,), (threads,), (x, y, np.int64(n)))
    y[...] = before  # each launch changes y
    kernel(*launch)
    assert (abs(y - right) <= 3e-7 * abs(right)).all()  # CHANGE: five roundings of a float
    return (lambda: kernel(*launch)), x.nbytes + 2 * y.nbytes  # CHANGE: reads x, reads and writes y


calls = {"copy": ((lambda: y.data.copy_from_device_async(x.data, x.nbytes)), 2 * x.nbytes)}
for vector, threads in itertools.product((1, 2, 4), (64, 256, 1024)):  # CHANGE: 16 bytes among them
    calls[f"{vector * x.itemsize} bytes a thread, {threads} threads"] = variant(vector, threads)
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
    print(f" {moved / median / (2 * x.nbytes / copied):.2f} of the copy")
