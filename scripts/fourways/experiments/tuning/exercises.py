"""The judges of lesson 09's exercises, which run a learner's kernels by the host way."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from fourways import building, checking, host, kernels
from fourways.experiments.tuning.filters import constants

_SPARSE = """
extern "C" __global__ void sparse(const float *x, float *y, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = SUM;
}
"""
_NINE_DIGITS = float.fromhex("0x1.9999ap-4")
"""A number that float32 holds exactly, and that comes back as another float32 if it is written with 8 digits."""


def check_expression(expression: Callable[[np.ndarray], str]) -> str:
    """Judge a learner's `expression(taps)`: the sum over the taps that are not 0, as C++ on `x[i + k]`.

    It is tried on four random filters (float32) of 5 to 9 taps. Some taps are 0, some are negative, and some need nine
    digits; one filter is 0 throughout. Every tap must arrive to the last bit. NVRTC must leave no double in the kernel,
    and no more products than there are taps that are not 0. A NaN in x may not arrive where the tap is 0.
    """
    random = np.random.default_rng()
    zeros: tuple[list[int], ...] = ([1, 5], [0, 3], [0, 1, 2, 3, 4], [2, 4, 6, 8])
    for length, places in zip((7, 6, 5, 9), zeros, strict=True):
        taps = random.uniform(0.1, 1, length).astype(np.float32)
        taps[1::2] *= -1
        taps[-2] = _NINE_DIGITS
        taps[places] = 0
        if problem := _wrong_expression(expression(taps), taps):
            return f"Not yet: {problem}."
    return "Right for four filters: every tap exact, and no product too many."


def _wrong_expression(text: Any, taps: np.ndarray) -> str | None:
    """Return the first thing that is wrong with a sum as C++ for these taps, or None."""
    if not isinstance(text, str):
        return f"{text!r} came; wanted is the sum as a str"
    told = (f"-DSUM={' '.join(text.split())}",)  # a macro has one line
    impulse, poisoned = np.zeros((2, 2 * taps.size - 1), np.float32)
    answer, spoiled = np.full((2, taps.size), np.nan, np.float32)
    impulse[taps.size - 1], poisoned[taps.size - 1] = 1, np.nan
    try:
        kernel = host.compile(_SPARSE, told, timeout=5).get_function("sparse")
        for x, y in ((impulse, answer), (poisoned, spoiled)):
            kernel((1,), (32,), (x, y, np.int64(taps.size)))
        ptx = building.build(_SPARSE, output="ptx", options=told).code.decode()
    except RuntimeError as error:  # of a compiler or a kernel
        return checking.not_yet(error).removeprefix("Not yet: ")
    got = answer[::-1]
    if taps.any() and not got.any():
        return "the sum is 0 for every x"
    if (wrong := np.flatnonzero(got != taps)).size:
        if np.allclose(got, taps, rtol=0, atol=1e-2):
            return f"tap {wrong[0]} is off by {abs(got - taps).max():.1g}: some of its bits are lost"
        if sorted(got[got != 0]) == sorted(taps[taps != 0]):
            return f"tap {wrong[0]} has the value of another tap; the places in x are wrong"
        return f"the filter's tap {wrong[0]} is {taps[wrong[0]]!s}, and the kernel's is {got[wrong[0]]!s}"
    if ".f64" in ptx:
        return "the sum is right, but is computed in double: the letter f ends a constant of float"
    products, needed = len(re.findall(r"\b(?:mul|fma)(?:\.rn)?\.f32\b", ptx)), np.count_nonzero(taps)
    if products > needed:
        return f"the sum is right, but has {products} products for {needed} taps that are not 0"
    if (read := np.flatnonzero(np.isnan(spoiled[::-1]) & (taps == 0))).size:
        return f"the sum is right, but reads an element of x for tap {read[0]}, which is 0"
    return None


def check_kept(smooth: Callable[..., None]) -> str:
    """Judge a learner's `smooth(build, x, taps, y)`, which filters x into y and builds one kernel for each filter.

    `build(taps)` compiles a kernel for these taps by the host way, and returns a function of x and y that launches it.
    `smooth` is called for three random filters of one length, which take turns, some in arrays of their own and one in
    an array that is overwritten. Two filters have the same taps in another order, so their sums are equal. The third
    differs from the second in the last bit of one tap. `smooth` must call `build` once for each filter, and launch one
    kernel in each call.
    """
    random, built, launched = np.random.default_rng(), [], [0]

    def build(taps: np.ndarray) -> Callable[[np.ndarray, np.ndarray], None]:
        told = (f"-DTAPS={constants(taps)}",)
        kernel = host.compile(kernels.path("fir"), told, timeout=5).get_function("fir")
        built.append(taps.copy())
        sizes = np.int32(taps.size), taps.copy()

        def launch(x: np.ndarray, y: np.ndarray) -> None:
            launched[0] += 1
            kernel((1,), (32,), (x, sizes[1], sizes[0], y, np.int64(y.size)))

        return launch

    four = np.asarray(random.permutation(np.arange(8, 16))[:4] / 16, np.float32)
    filters = [four[order] for order in ([0, 1, 2, 3], [0, 2, 1, 3], [0, 2, 1, 3])]
    filters[2][2] = np.nextafter(filters[2][2], np.float32(1))
    reused = np.empty(4, np.float32)  # one array for the filters 0 and 1
    for call, number in enumerate((0, 2, 1, 0, 2, 1, 0), 1):
        taps = filters[2].copy()
        if number < 2:
            reused[:] = filters[number]
            taps = reused
        x, y = random.random(40 + call, np.float32), np.full(37 + call, np.nan, np.float32)
        before = launched[0]
        try:
            smooth(build, x, taps, y)
        except Exception as error:
            return f"Not yet: call {call} raised {type(error).__name__}: {error}"
        if not np.allclose(y, np.correlate(x, filters[number], "valid"), rtol=1e-4, atol=0):
            why = "a kernel for other taps answered" if launched[0] > before else "and no kernel was launched"
            return f"Not yet: call {call} is wrong, {why}."
        if launched[0] != before + 1:
            return f"Not yet: call {call} is right, but it launched {launched[0] - before} kernels; wanted is 1."
    if len(built) != len(filters):
        return f"Not yet: the answers are right, but {len(filters)} filters took {len(built)} builds."
    return f"Right: {call} calls with {len(filters)} filters took {len(built)} builds."
