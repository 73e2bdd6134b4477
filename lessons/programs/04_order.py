"""Bring interleaved channels (n pixels of 64 numbers) into planes: y[c][i] = x[i][c]."""

import cupy as cp
import numpy as np

CHANNELS, n = 64, 3_000_001  # CHANGE: the sides; CHANNELS is a multiple of 32
DTYPE, ELEMENT = np.dtype("float64"), "double"  # CHANGE: only the size counts
TEXT = r"""
// A block of 32 x 8 threads moves 32 channels, from c on, of 32 pixels, from i on.
#define SQUARE const long long i = 32LL * blockIdx.x, c = 32LL * blockIdx.y; \
               const int u = threadIdx.x, v = threadIdx.y
extern "C" __global__ void reads_rows(const ELEMENT *x, ELEMENT *y, long long n) {
    SQUARE;
    for (int k = v; k < 32 && i + k < n; k += 8)
        y[(c + u) * n + i + k] = x[(i + k) * CHANNELS + c + u]; // CHANGE
}
extern "C" __global__ void writes_rows(const ELEMENT *x, ELEMENT *y, long long n) {
    SQUARE;
    for (int k = v; k < 32 && i + u < n; k += 8)
        y[(c + k) * n + i + u] = x[(i + u) * CHANNELS + c + k]; // CHANGE
}
extern "C" __global__ void by_tile(const ELEMENT *x, ELEMENT *y, long long n) {
    SQUARE;
    __shared__ ELEMENT tile[32][33];
    for (int k = v; k < 32 && i + k < n; k += 8)
        tile[k][u] = x[(i + k) * CHANNELS + c + u]; // CHANGE: as reads_rows reads
    __syncthreads();
    for (int k = v; k < 32 && i + u < n; k += 8)
        y[(c + k) * n + i + u] = tile[u][k]; // CHANGE: as writes_rows writes
}
extern "C" __global__ void delay(int n) { for (auto t = clock64(); clock64() - t < n;) {} }
"""
module = cp.RawModule(code=TEXT, options=(f"-DELEMENT={ELEMENT}", f"-DCHANNELS={CHANNELS}"))
x = cp.random.randint(128, size=(n, CHANNELS)).astype(DTYPE)  # CHANGE
y = cp.empty((CHANNELS, n), DTYPE)  # CHANGE
launch = ((n + 31) // 32, CHANNELS // 32), (32, 8), (x, y, np.int64(n))  # CHANGE
u, lot, size = np.arange(32), np.random.default_rng(1), DTYPE.itemsize
for row in 32, 33:  # a bank is 4 bytes wide, so elements of 8 bytes take 2 turns at least
    words = np.unique((u * row * size)[:, None] + np.arange(size) >> 2)
    print(f"tile[32][{row}]: a column takes {np.bincount(words % 32).max()} turns")
i, c, k = (lot.integers(end, size=(1000, 1)) for end in (n // 32, CHANNELS // 32, 32))
i, c = 32 * i, 32 * c  # the squares of 1000 warps
xr, yr = (i + k) * CHANNELS + c + u, (c + k) * n + i + u  # CHANGE: x and y row by row
xc, yc = (i + u) * CHANNELS + c + k, (c + u) * n + i + k  # CHANGE: and column by column
calls = {"copy": lambda *_: y.data.copy_from_device_async(x.data, x.nbytes)}
for name, *both in ("reads_rows", xr, yc), ("writes_rows", xc, yr), ("by_tile", xr, yr):
    sectors = [np.mean([np.unique(w).size for w in at * size // 32]) for at in both]
    print(f"{name}: a warp reads {sectors[0]:.2f} sectors and writes {sectors[1]:.2f}")
    calls[name] = module.get_function(name)
    y.view(cp.uint8)[...] = 255  # so that an old answer is no answer
    calls[name](*launch)
    assert (y == x.T).all(), name  # CHANGE
samples = {name: [] for name in calls}  # of 23 rounds, each in an order drawn by lot
for name in [name for _ in range(23) for name in lot.permutation(list(calls))]:
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    module.get_function("delay")((1,), (1,), (np.int32(400_000),))  # until all is queued
    start.record(), calls[name](*launch), stop.record(), stop.synchronize()
    samples[name].append(cp.cuda.get_elapsed_time(start, stop))
for name, taken in samples.items():
    print(f"{name:11} {np.median(taken[3:]):.3f} ms")  # the first three warm up
