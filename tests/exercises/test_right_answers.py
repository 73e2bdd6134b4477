"""Judges take right answers of other forms than the page's solution; `tests/lessons` gives them the page's answers."""

import re
from collections.abc import Sequence

import pytest

from fourways import toolchain
from fourways.exercises import costs, shipping, sums

needs_host = pytest.mark.skipif(toolchain.missing("host compiler") is not None, reason="no C++ compiler")

WARP_SCAN = """
static __device__ float warp_scan(float value)
{
    for (int distance = 1; distance < 32; distance *= 2) {
        const float below = __shfl_up_sync(0xffffffff, value, distance);
        if (threadIdx.x % 32 >= distance) value += below;
    }
    return value;
}
"""


@needs_host
def test_kernels() -> None:
    assert sums.check_warp_scan(WARP_SCAN).startswith("Right")


def test_picks_and_wheels() -> None:
    def best(held: Sequence[str], gpu: str) -> str | None:
        starting = [name for name in held if toolchain.runs_on([name], gpu)]
        return min(starting, key=lambda name: (name[0] != "s", -int(re.sub(r"\D", "", name))), default=None)

    def wheels(pythons, cudas, platforms, architectures, stable=None):
        shared = 0 if stable is None else sum(python >= stable for python in pythons)
        return (len(pythons) - max(shared - 1, 0)) * len({each[:2] for each in cudas}) * len(platforms)

    for _ in range(5):
        assert shipping.check_pick(best).startswith("Right for ")
        assert shipping.check_wheels(wheels).startswith("Right for ")


def test_a_break_even_by_bisection_and_a_total_launch_by_launch() -> None:
    def break_even(a, b, kernel):
        def behind(launches):
            totals = [each["start"] + launches * max(each["launch"], kernel) for each in (a, b)]
            return totals[1] > totals[0]

        low, high = 0, 10**6
        if behind(high):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if behind(middle) else (low, middle)
        return high

    def total_with_reads(start, batches, size, launch, kernel, read):
        for _ in range(batches):
            done = queued = start
            for _ in range(size):
                queued += launch
                done = max(done, queued) + kernel
            start = done + read
        return start

    assert costs.check_break_even(break_even).startswith("Right for ")
    assert costs.check_total_with_reads(total_with_reads).startswith("Right for ")
