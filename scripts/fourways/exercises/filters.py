"""The judges of lesson 09: a sum without the taps that are 0, and a kernel kept for each filter."""

import random

import numpy as np

from fourways.exercises.functions import Answer, run_kernel, same

_SUMS = """
extern "C" __global__ void sums(const float *x, float *y)
{
    const int i = threadIdx.x * blockDim.x; // each thread has a row of x
    static_assert(sizeof(SUM) == 4, "the sum is a double: a constant of type float ends in f");
    y[threadIdx.x] = SUM;
}
"""


def check_expression(expression: Answer) -> str:
    """Judge `expression(taps)`, the sum as C++. Row k of x is 1 at k, 0 elsewhere, and infinite where a tap is 0."""

    def your_sums(taps: np.ndarray) -> np.ndarray:
        x, y = np.where(taps == 0, np.inf, np.eye(taps.size)).astype(np.float32), np.zeros_like(taps)
        run_kernel(_SUMS, "sums", (1,), (taps.size,), x, y, options=(f"-DSUM=({expression(taps)})",))
        return y

    def draw() -> tuple[np.ndarray]:
        taps = np.random.default_rng().uniform(-1, 1, 7).astype(np.float32)
        taps[random.sample(range(7), random.choice([3, 4, 7]))] = 0
        return (taps,)

    hint = "x is infinite where a tap is 0, and 0 times infinity is NaN."
    return same(your_sums, lambda taps: taps, draw, 4, hint=lambda *_: hint)


def check_kept(smooth: Answer) -> str:
    """Judge `smooth(build, x, taps, y)`: one build a filter. Two filters take turns in two arrays."""
    filters, arrays, built = np.random.default_rng().random((2, 5)), [np.zeros(5), np.zeros(5)], list[np.ndarray]()
    turns = iter(random.sample([(taps, place) for taps in filters for place in (0, 1)] * 2, 8))

    def build(taps: np.ndarray) -> Answer:
        built.append(own := taps.copy())
        return lambda x, y: np.copyto(y, np.correlate(x, own, "valid"))

    def smoothed(taps: np.ndarray, place: int) -> np.ndarray:
        arrays[place][:], y = taps, np.full(4, np.nan)
        smooth(build, np.arange(8.0), arrays[place], y)
        return y

    told = same(smoothed, lambda taps, place: np.correlate(np.arange(8.0), taps, "valid"), lambda: next(turns), 8)
    if told.startswith("Right") and len(built) != 2:
        return f"Not yet: the answers are right, but 2 filters took {len(built)} builds."
    return told
