"""Bring interleaved channels (h pixels of w numbers) into planes: b[x][y] = a[y][x]."""

import cupy as cp
import numpy as np

ELEMENT, SIZE = "double", 8  # CHANGE: a type of C++ (uchar3 has 3 bytes), and its bytes
FROM, TO = "y * w + x", "x * h + y"  # CHANGE: element (y, x) in a, and its place in b
SIDES = (1, 1), (95, 321), (3_000_001, 64)  # CHANGE: h and w; the last, from 32 on, are timed
EDGE = 64  # CHANGE: 32 if the tile needs more than 48 KiB
TEXT = r"""
// A block of 32 x 8 threads visits a square of a: each thread every 8th row, every 32nd column
#define EACH(down, across) \
    _Pragma("unroll") for (int row = 0; row < EDGE; row += 8) \
        _Pragma("unroll") for (int column = 0; column < EDGE; column += 32) \
            if (const long long k = row + threadIdx.y, u = column + threadIdx.x, \
                y = EDGE * blockIdx.x + down, x = EDGE * blockIdx.y + across; y < h && x < w)
#define ARGUMENTS const ELEMENT *a, ELEMENT *b, long long h, long long w
extern "C" __global__ void reads_rows(ARGUMENTS) { EACH(k, u) b[TO] = a[FROM]; }
extern "C" __global__ void writes_rows(ARGUMENTS) { EACH(u, k) b[TO] = a[FROM]; }
extern "C" __global__ void by_tile(ARGUMENTS) {
    __shared__ ELEMENT tile[EDGE][EDGE + PAD];
    EACH(k, u) tile[k][u] = a[FROM];
    __syncthreads();
    EACH(u, k) b[TO] = tile[u][k];
}
extern "C" __global__ void delay(int n) { for (auto t = clock64(); clock64() - t < n;) {} }
"""
u, lot, turns, (h, w) = np.arange(32), np.random.default_rng(1), [], SIDES[-1]
for pad in range(5):  # a column's words of 4 bytes in its fullest bank: a turn for each
    words = np.unique((u[:, None] * (EDGE + pad) * SIZE + np.arange(SIZE)) // 4)
    turns.append(int(np.bincount(words % 32).max()))
print(f"tile[{EDGE}][{EDGE} + PAD]: a column takes {turns} turns for PAD = 0 to 4")
y, x, k = (lot.integers(end, size=(1000, 1)) for end in (h // 32, w // 32, 32))
row = {"y": 32 * y + k, "x": 32 * x + u, "h": h, "w": w}  # 1000 warps along rows of a
col = {"y": 32 * y + u, "x": 32 * x + k, "h": h, "w": w}  # and along columns
for name, *both in ("reads_rows", row, row), ("writes_rows", col, col), ("by_tile", row, col):
    for what, at in ("reads", eval(FROM, both[0])), ("writes", eval(TO, both[1])):
        ends = np.hstack((at * SIZE // 32, (at * SIZE + SIZE - 1) // 32))  # first, last byte
        print(f"{name}: a warp {what} {np.mean([len({*warp}) for warp in ends]):.2f} sectors")
macros = {
    "ELEMENT": ELEMENT,
    "FROM": FROM,
    "TO": TO,
    "EDGE": f"{EDGE}LL",
    "PAD": np.argmin(turns),
}
module = cp.RawModule(code=TEXT, options=tuple(f"-D{m}={text}" for m, text in macros.items()))
calls = {name: module.get_function(name) for name in ("reads_rows", "writes_rows", "by_tile")}
for h, w in SIDES:
    a = cp.random.randint(256, size=(h, w, SIZE), dtype=cp.uint8)  # random bytes
    right = cp.ascontiguousarray(a.swapaxes(0, 1))  # CHANGE: the answer
    b, grid = cp.empty_like(right), (-(-h // EDGE), -(-w // EDGE))  # rounded up
    launch = grid, (32, 8), (a, b, np.int64(h), np.int64(w))
    for name in calls:
        b[...] = ~right  # so that an old answer is no answer
        calls[name](*launch)
        assert (b == right).all(), name
calls["copy"] = lambda *_: b.data.copy_from_device_async(a.data, a.nbytes)
samples = {name: [] for name in calls}  # of 23 rounds, each in an order drawn by lot
for name in [name for _ in range(23) for name in lot.permutation(list(calls))]:
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    module.get_function("delay")((1,), (1,), (np.int32(400_000),))  # until all is queued
    start.record()
    calls[name](*launch)
    stop.record()
    stop.synchronize()
    samples[name].append(cp.cuda.get_elapsed_time(start, stop))
for name, taken in samples.items():
    print(f"{name:11} {np.median(taken[3:]):.3f} ms")  # the first three warm up
