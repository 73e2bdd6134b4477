"""Bring interleaved channels (n pixels of 64 floats) into planes: y[c][i] = x[i][c]."""

from functools import partial

import cupy as cp
import numpy as np

CHANNELS, n = 64, 3_000_001  # CHANNELS: a multiple of 32
TEXT = r"""
// A block of 32 x 8 threads moves 32 channels, from c on, of 32 pixels, from i on.
#define SQUARE const long long i = 32LL * blockIdx.x, c = 32LL * blockIdx.y; \
               const int u = threadIdx.x, v = threadIdx.y

extern "C" __global__ void reads_rows(const float *x, float *y, long long n)
{
    SQUARE;
    for (int k = v; k < 32 && i + k < n; k += 8)
        y[(c + u) * n + i + k] = x[(i + k) * CHANNELS + c + u];
}
extern "C" __global__ void writes_rows(const float *x, float *y, long long n)
{
    SQUARE;
    for (int k = v; k < 32 && i + u < n; k += 8)
        y[(c + k) * n + i + u] = x[(i + u) * CHANNELS + c + k];
}
extern "C" __global__ void by_tile(const float *x, float *y, long long n)
{
    SQUARE;
    __shared__ float tile[32][33];
    for (int k = v; k < 32 && i + k < n; k += 8)
        tile[k][u] = x[(i + k) * CHANNELS + c + u];
    __syncthreads();
    for (int k = v; k < 32 && i + u < n; k += 8)
        y[(c + k) * n + i + u] = tile[u][k];
}
extern "C" __global__ void delay(long long cycles)
{
    for (const long long start = clock64(); clock64() - start < cycles;) {}
}
"""
module = cp.RawModule(code=TEXT, options=(f"-DCHANNELS={CHANNELS}",))
x = cp.random.default_rng(1).standard_normal((n, CHANNELS), dtype=cp.float32)
y = cp.empty((CHANNELS, n), cp.float32)
grid, block, arguments = ((n + 31) // 32, CHANNELS // 32), (32, 8), (x, y, np.int64(n))
calls = {"copy": lambda: y.data.copy_from_device_async(x.data, x.nbytes)}
for name in ("reads_rows", "writes_rows", "by_tile"):
    calls[name] = partial(module.get_function(name), grid, block, arguments)
    y.fill(np.nan)  # so that an old answer is no answer
    calls[name]()
    assert (y == x.T).all(), name
delay = module.get_function("delay")
for name, call in calls.items():
    seconds = []
    for _ in range(23):
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        delay((1,), (1,), (np.int64(400_000),))  # keeps the GPU busy until all is queued
        start.record(), call(), stop.record(), stop.synchronize()
        seconds.append(cp.cuda.get_elapsed_time(start, stop) / 1e3)
    median = float(np.median(seconds[3:]))  # the first three warm up
    print(f"{name:12} {median * 1e3:6.2f} ms, {2 * x.nbytes / median / 1e12:.2f} TB/s")
