"""The judges of lesson 09: a sum without the taps that are 0, and a kernel kept for each filter."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fourways import checking, host
from fourways.exercises.functions import same

_SUMS = """
extern "C" __global__ void sums(const float *x, float *y)
{
    const int i = threadIdx.x * blockDim.x; // each thread has a row of x
    static_assert(sizeof(SUM) == 4, "the sum is a double: a constant of type float ends in f");
    y[threadIdx.x] = SUM;
}
"""


def check_expression(expression: Callable[[np.ndarray], Any]) -> str:
    """Judge `expression(taps)`, the sum as C++. Row k of x is 1 at k, 0 elsewhere, and infinite where a tap is 0."""
    draw = np.random.default_rng()
    cases = [draw.uniform(-1, 1, length).astype(np.float32) for length in draw.permutation([6, 7, 8, 9])]
    for taps, zeros in zip(cases, [9, *draw.permutation([2, 3, 4])], strict=True):  # the last is tried first
        taps[draw.permutation(taps.size)[:zeros]] = 0

    def your_sums(taps: np.ndarray) -> np.ndarray:
        x, y = np.where(taps == 0, np.inf, np.eye(taps.size)).astype(np.float32), np.zeros_like(taps)
        try:
            kernel = host.compile(_SUMS, (f"-DSUM=({expression(taps)})",), timeout=5).get_function("sums")
        except host.CompileError as error:
            raise ValueError(checking.not_yet(error).removeprefix("Not yet: ")) from None
        kernel((1,), (taps.size,), (x, y))
        return y

    def hint(came: Any, expected: Any) -> str:
        return "" if np.isfinite(came).all() else "x is infinite where a tap is 0, and 0 times infinity is NaN."

    return same(your_sums, lambda taps: taps, lambda: (cases.pop(),), len(cases), hint=hint)


def check_kept(smooth: Callable[..., Any]) -> str:
    """Judge `smooth(build, x, taps, y)`: one build a filter. Two of three filters share an array, and their numbers."""
    draw, built, launched = np.random.default_rng(), [], [0]
    first = draw.permutation(np.arange(1, 6, dtype=np.float32)) / 16
    filters, shared = (first, first[::-1], np.nextafter(first, np.float32(1))), np.zeros(5, np.float32)

    def build(taps: np.ndarray) -> Callable[[np.ndarray, np.ndarray], None]:
        built.append(taps.copy())

        def launch(x: np.ndarray, y: np.ndarray, own: np.ndarray = built[-1]) -> None:
            launched[0] += 1
            y[:] = np.correlate(x, own, "valid")

        return launch

    for call, number in enumerate([2, *draw.permutation([0, 1, 2] * 3)], 1):
        taps, where = (shared, "the same" if shared.any() else "another") if number < 2 else (first.copy(), "another")
        taps[:] = filters[number]
        x, y, launches = draw.random(40, np.float32), np.full(36, np.nan, np.float32), launched[0]
        smooth(build, x, taps, y)
        right, launches = np.array_equal(y, np.correlate(x, filters[number], "valid")), launched[0] - launches
        if launches != 1:
            return f"Not yet: call {call} is {'right' if right else 'wrong'}, but launched {launches} kernels, not 1."
        if not right:
            return f"Not yet: call {call} got the kernel of an earlier filter, whose taps stood in {where} array."
    if len(built) != 3:
        return f"Not yet: the answers are right, but 3 filters took {len(built)} builds."
    return f"Right: {call} calls with 3 filters took 3 builds."
