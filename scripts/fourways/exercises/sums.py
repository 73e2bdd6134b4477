"""The judges of lesson 03's exercises. They run kernels by the host way."""

import numpy as np

from fourways.exercises.functions import run_kernel, same

_SCAN = 'extern "C" __global__ void scan(const float *x, float *y) { y[threadIdx.x] = warp_scan(x[threadIdx.x]); }'
_BY_LOT = "#define atomicAdd(...) (__nanosleep((unsigned)clock64() % 100'000), atomicAdd(__VA_ARGS__))\n#line 1\n"
"""Makes each `atomicAdd` come late by lot: a GPU orders them in another way at each run, a CPU hardly does."""


def check_warp_scan(function: str) -> str:
    """Judge the text of `__device__ float warp_scan(float value)`: the sum of the values of this lane and all below."""

    def scan(x: np.ndarray) -> np.ndarray:
        y = np.full_like(x, np.nan)
        run_kernel(f"{function}\n{_SCAN}", "scan", (1,), x.shape, x, y)
        return y

    def draw() -> tuple[np.ndarray]:
        return (np.random.default_rng().integers(1, 10**5, 96).astype(np.float32),)

    return same(scan, lambda x: x.reshape(-1, 32).cumsum(axis=1).ravel(), draw, 5)


def check_second_launch(text: str) -> str:
    """Judge the text of a kernel `reduce(parts, total, number)`: one block sets total[0], with the same bits each time.

    The kernel gets fewer and more parts than threads, and an old number in `total`.
    """
    random = np.random.default_rng()

    def sums_of_ten_runs(parts: np.ndarray) -> list[float]:
        totals = random.integers(10_000, 20_000, (10, 1)).astype(np.float32)
        for total in totals:
            run_kernel(_BY_LOT + text, "reduce", (1,), (128,), parts, total, np.int64(parts.size))
        return sorted(set(totals.ravel().tolist()))

    def draw() -> tuple[np.ndarray]:
        return (1 + random.random(random.choice([40, 300, 2000]), np.float32),)

    return same(sums_of_ten_runs, lambda parts: [parts.sum(dtype=np.float64)], draw, 12, rtol=1e-4)
