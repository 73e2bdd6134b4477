"""The judges of lesson 03's exercises. They run kernels by the host way."""

import numpy as np

from fourways import host

_SCAN = 'extern "C" __global__ void scan(const float *x, float *y) { y[threadIdx.x] = warp_scan(x[threadIdx.x]); }'


def check_warp_scan(function: str) -> str:
    """Judge the text of `__device__ float warp_scan(float value)`: the sum of the values of this lane and all below."""
    x = np.random.default_rng().integers(1, 10**5, 160).astype(np.float32)
    y, right = np.full_like(x, np.nan), x.reshape(5, 32).cumsum(axis=1).ravel()
    try:
        host.compile(f"{function}\n{_SCAN}", timeout=5).get_function("scan")((1,), (160,), (x, y))
    except (host.CompileError, host.KernelError) as error:
        return f"Not yet: {error}"
    for i in np.flatnonzero(y != right):
        return f"Not yet: lane {i % 32} of warp {i // 32} has {y[i]:.0f}; lanes 0 to {i % 32} add up to {right[i]:.0f}."
    return "Right for five warps."


def check_partial_sums(text: str) -> str:
    """Judge the text of a kernel `reduce(x, total, n)`: block b writes the sum of its elements to total[b]."""
    random = np.random.default_rng()
    for size, threads in ((1000, 64), (1, 64), (int(random.integers(200, 1000)), 128)):
        x, starts = random.integers(1, 32, size).astype(np.float32), range(0, size, threads)
        old = random.integers(10_000, 20_000, len(starts)).astype(np.float32)
        total, right = old.copy(), np.add.reduceat(x, starts)
        try:
            kernel = host.compile(text, timeout=5).get_function("reduce")
            kernel((len(starts),), (threads,), (x, total, np.int64(size)))
        except (host.CompileError, host.KernelError) as error:
            return f"Not yet: {error}"
        for b in (*np.flatnonzero(total == old), *np.flatnonzero(total != right)):
            now = "nobody wrote there" if total[b] == old[b] else f"then {total[b]:.0f}"
            told = f"total[{b}] held {old[b]:.0f}, {now}; the elements of block {b} add up to {right[b]:.0f}"
            return f"Not yet: {size} elements in blocks of {threads}: {told}."
    return "Right: each block leaves its own sum, so the order in which blocks end does not matter."
