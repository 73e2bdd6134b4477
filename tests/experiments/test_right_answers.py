"""Judges take right answers of other forms than the page's solution; `tests/lessons` gives them the page's answers."""

import re
from collections.abc import Sequence

import pytest

from fourways import toolchain
from fourways.exercises import shipping, sums

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
