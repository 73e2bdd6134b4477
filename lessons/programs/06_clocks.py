"""GELU by four clocks, at a short and a long size: what does each say, and what rate does it claim? Needs CuPy."""

import random
import time
from functools import partial

import cupy as cp
import numpy as np

SOURCE = r"""
extern "C" __global__ void gelu(const float *x, float *y, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 0.5f * x[i] * (1 + tanhf(0.7978846f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}
extern "C" __global__ void nothing() {}
extern "C" __global__ void delay(long long cycles)
{ for (const long long start = clock64(); clock64() - start < cycles;); }
"""
gelu, nothing, delay = map(cp.RawModule(code=SOURCE).get_function, ("gelu", "nothing", "delay"))
wait = cp.cuda.Device().synchronize


def by_python(call, last):
    wait()
    start = time.perf_counter()
    call(), last()
    return time.perf_counter() - start


def by_events(call):
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    delay((1,), (1,), (np.int64(400_000),))  # keeps the GPU busy until all is queued
    start.record(), call(), stop.record(), stop.synchronize()
    return cp.cuda.get_elapsed_time(start, stop) / 1e3


def report(what, call, moved):
    with cp.cuda.Stream(non_blocking=True) as stream:
        call(), wait(), stream.begin_capture()
        _ = [call() for _ in range(100)]
        graph = stream.end_capture()
    clocks = {"alone": lambda: by_python(call, lambda: None), "waited": lambda: by_python(call, wait)}
    clocks |= {"events": lambda: by_events(call), "graph": lambda: by_events(graph.launch) / 100}
    samples = {clock: [] for clock in clocks}
    for clock in [each for _ in range(23) for each in random.sample(list(clocks), 4)]:  # in turns
        samples[clock].append(clocks[clock]())
    for clock, taken in samples.items():
        seconds = float(np.median(taken[3:]))  # the first three warm up
        print(f"{what:8} {clock:7} {seconds * 1e6:8.2f} µs {moved / seconds / 1e12:9.3f} TB/s")


x = 4 * cp.sin(cp.arange(2**28, dtype=cp.float32))
y = cp.full_like(x, np.nan)  # so that an old answer is no answer
short, long = (partial(gelu, (n // 256,), (256,), (x, y, np.int64(n))) for n in (2**12, 2**28))
long()
assert cp.allclose(y, x / 2 * (1 + cp.tanh(0.7978846 * (x + 0.044715 * x**3))), rtol=1e-4, atol=1e-5)
report("nothing", partial(nothing, (1,), (1,), ()), 0)
report("short", short, 8 * 2**12)  # bytes: a float in, a float out
report("long", long, 8 * 2**28)
