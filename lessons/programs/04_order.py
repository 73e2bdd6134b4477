"""Bring interleaved channels (n pixels of 64 numbers) into planes: y[c][i] = x[i][c]."""

import random

import cupy as cp
import numpy as np

CHANNELS, n = 64, 3_000_001  # CHANNELS: a multiple of 32
DTYPE, ELEMENT = np.dtype("float64"), "double"  # or "int16", "short": only the size counts
TEXT = r"""
// A block of 32 x 8 threads moves 32 channels, from c on, of 32 pixels, from i on.
#define SQUARE const long long i = 32LL * blockIdx.x, c = 32LL * blockIdx.y; \
               const int u = threadIdx.x, v = threadIdx.y
extern "C" __global__ void reads_rows(const ELEMENT *x, ELEMENT *y, long long n) {
    SQUARE;
    for (int k = v; k < 32 && i + k < n; k += 8)
        y[(c + u) * n + i + k] = x[(i + k) * CHANNELS + c + u];
}
extern "C" __global__ void writes_rows(const ELEMENT *x, ELEMENT *y, long long n) {
    SQUARE;
    for (int k = v; k < 32 && i + u < n; k += 8)
        y[(c + k) * n + i + u] = x[(i + u) * CHANNELS + c + k];
}
extern "C" __global__ void by_tile(const ELEMENT *x, ELEMENT *y, long long n) {
    SQUARE;
    __shared__ ELEMENT tile[32][33];
    for (int k = v; k < 32 && i + k < n; k += 8)
        tile[k][u] = x[(i + k) * CHANNELS + c + u];
    __syncthreads();
    for (int k = v; k < 32 && i + u < n; k += 8)
        y[(c + k) * n + i + u] = tile[u][k];
}
extern "C" __global__ void delay(int n) { for (auto t = clock64(); clock64() - t < n;) {} }
"""
module = cp.RawModule(code=TEXT, options=(f"-DELEMENT={ELEMENT}", f"-DCHANNELS={CHANNELS}"))
x = (cp.arange(n * CHANNELS, dtype=cp.uint32) * 2654435761 >> 25).astype(DTYPE)
x, y = x.reshape(n, CHANNELS), cp.empty((CHANNELS, n), DTYPE)
launch = ((n + 31) // 32, CHANNELS // 32), (32, 8), (x, y, np.int64(n))
thread, size = np.arange(32), DTYPE.itemsize
# A bank is 4 bytes wide. A warp's 32 elements of 8 bytes are 64 words, so 2 turns are the
# best that 32 banks can do, and more are a conflict. Elements of 2 bytes share a word.
for row in (32, 33):
    words = np.unique((thread * row * size)[:, None] + np.arange(size) >> 2)
    print(f"tile[32][{row}]: a column takes {np.bincount(words % 32).max()} turns")
calls = {"copy": lambda *_: y.data.copy_from_device_async(x.data, x.nbytes)}
for name, *steps in ("reads_rows", 1, n), ("writes_rows", CHANNELS, 1), ("by_tile", 1, 1):
    sectors = [np.unique(thread * step * size // 32).size for step in steps]  # of 32 bytes
    print(f"{name}: a warp reads {sectors[0]} sectors and writes {sectors[1]}")
    calls[name] = module.get_function(name)
    y.view(cp.uint8)[...] = 255  # so that an old answer is no answer
    calls[name](*launch)
    assert (y == x.T).all(), name
samples = {name: [] for name in calls}  # of 23 rounds, each in an order drawn by lot
for name in [name for _ in range(23) for name in random.sample(list(calls), len(calls))]:
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    module.get_function("delay")((1,), (1,), (np.int32(400_000),))  # until all is queued
    start.record(), calls[name](*launch), stop.record(), stop.synchronize()
    samples[name].append(cp.cuda.get_elapsed_time(start, stop))
for name, taken in samples.items():
    print(f"{name:11} {np.median(taken[3:]):.3f} ms")  # the first three warm up
