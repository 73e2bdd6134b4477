"""The judges of lesson 03's exercises. They run kernels by the host way."""

import numpy as np

from fourways import host

_SCAN = 'extern "C" __global__ void scan(const float *x, float *y) { y[threadIdx.x] = warp_scan(x[threadIdx.x]); }'
_BY_LOT = "#define atomicAdd(...) (__nanosleep((unsigned)clock64() % 100'000), atomicAdd(__VA_ARGS__))\n#line 1\n"
"""Makes each `atomicAdd` come late by lot: a GPU orders them in another way at each run, a CPU hardly does."""


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


def check_second_launch(text: str) -> str:
    """Judge the text of a kernel `reduce(parts, total, number)`: one block sets total[0], with the same bits each time.

    The kernel gets fewer and more parts than threads, and an old number in `total`.
    """
    random = np.random.default_rng()
    try:
        kernel = host.compile(_BY_LOT + text, timeout=5).get_function("reduce")
        for number in (1, 40, *random.integers(200, 2000, 10)):
            parts, seen = 1 + random.random(number, np.float32), set[float]()
            right, threads = parts.sum(dtype=np.float64), 64 if number < 100 else 128
            for old in random.integers(10_000, 20_000, 10):
                total = np.full(1, old, np.float32)
                kernel((1,), (threads,), (parts, total, np.int64(number)))
                seen.add(float(total[0]))
                if not np.isclose(total[0], right, rtol=1e-4):
                    is_sum = np.isclose(total[0], old + right, rtol=1e-5)
                    hint = " The old number is still in it." if is_sum else ""
                    told = f"total held {old}, then {total[0]:.1f}; the parts add up to {right:.1f}.{hint}"
                    return f"Not yet: number is {number}, a block of {threads} threads: {told}"
            if len(seen) > 1:
                sums = " and ".join(f"{each:.9g}" for each in sorted(seen)[:2])
                return f"Not yet: runs with the same {number} parts gave {sums}: what sets the order of adding?"
    except (host.CompileError, host.KernelError) as error:
        return f"Not yet: {error}"
    return "Right: 12 sets of parts, each with the same bits in ten runs."
