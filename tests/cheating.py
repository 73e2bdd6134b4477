"""A kernel that returns at once where the right answer already stands in its output."""

from typing import Any

import numpy as np

from fourways import ways

KERNEL = """
extern "C" __global__ void cheat(const float *x, float *y, unsigned long long *answered, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (y[i] == 2 * x[i])
        atomicAdd(answered, 1ull);
    else
        y[i] = 2 * x[i];
}
"""


def ways_of(way: str, kernel: Any, answered: Any, unused: Any) -> ways.Ways:
    """The cheat as one way of doublify. `answered` counts elements that it did not compute.

    Series of launches of one element measure the launch alone: they count in `unused`.
    """

    def run(x: Any, y: Any) -> None:
        if x.size:
            counter = answered if x.size > 1 else unused
            kernel(((x.size + 255) // 256,), (256,), (x, y, counter, np.int64(x.size)))

    return ways.Ways("doublify", lambda size: (np.ones(size, np.float32),), lambda x: 2 * x, {way: run})
