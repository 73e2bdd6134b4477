"""The judges of lesson 03's exercises, which use the host way."""

import re

import numpy as np

from fourways import checking, host, kernels

_TIMEOUT = 5  # seconds
_SCAN = """
#undef warp_scan
extern "C" __global__ void scan(const float *x, float *y)
{
    const float value = x[threadIdx.x];
    y[threadIdx.x] = warp_scan(value);
}
"""


def check_warp_scan(function: str) -> str:
    """Judge the text of `__device__ float warp_scan(float value)`: the sum of the values of this lane and all below.

    The function gets values alone, no array, and must exchange them by shuffles, without shared memory. It is tried
    twice by the host way, on five warps of one block, with other numbers each time.
    """
    if not isinstance(function, str) or "warp_scan" not in function:
        return "Not yet: the text has no function `warp_scan`."
    try:
        kernel = host.compile(function + _SCAN, timeout=_TIMEOUT).get_function("scan")
        for _ in range(2):
            x = (np.random.default_rng().integers(1, 10**5, 160) * (-1) ** np.arange(160)).astype(np.float32)
            y = np.full(160, np.nan, np.float32)
            kernel((1,), (160,), (x, y))
            got, expected = y.reshape(5, 32), x.reshape(5, 32).cumsum(axis=1)
            if (wrong := np.argwhere(got != expected)).size:
                warp, lane = wrong[0]
                came = f"has {got[warp, lane]:.0f}; the sum of lanes 0 to {lane} is {expected[warp, lane]:.0f}"
                return f"Not yet: lane {lane} of warp {warp} {came}."
    except (host.CompileError, host.KernelError, ValueError) as error:
        return checking.not_yet(error)
    code = kernels.without_comments(function)
    if "__shfl" not in re.sub(r"(?m)^\s*#.*", "", code):
        return "Not yet: the sums are right, but no lane got a value by `__shfl_up_sync`."
    if "__shared__" in code or "##" in code:
        return "Not yet: the sums are right, but lanes met in shared memory. Shuffles are enough."
    return "Right for five warps."


def check_partial_sums(text: str) -> str:
    """Judge the text of a kernel `reduce(x, total, n)`, in which block b leaves the sum of its elements in total[b].

    It is launched by the host way with a thread for each element, in blocks of 64 to 256 threads, and races between
    threads and between blocks are looked for. Before, `total` holds other numbers. Atomic functions are refused:
    they let threads add in the order in which they come.
    """
    if not isinstance(text, str) or "reduce" not in kernels.parameters(text):
        return "Not yet: the text has no kernel `reduce`."
    try:
        for race in ("thread", "blocks"):
            kernel = host.compile(text, sanitize=race, timeout=_TIMEOUT).get_function("reduce")
            for size, threads in ((1000, 64), (1, 64), (256, 128), (129, 128), (1024, 256)):
                if wrong := _wrong_sums(kernel, size, threads):
                    return f"Not yet: n = {size}, blocks of {threads} threads: {wrong}."
        idle = re.sub(r"(\breduce\s*\([^)]*\)\s*\{)", r"\1 if (blockIdx.x == 1) return;", text)
        if not _wrong_sums(host.compile(idle, timeout=_TIMEOUT).get_function("reduce"), 256, 128):
            told = "the sums are right, but block 1 does nothing for them. Let each block add its own elements."
            return f"Not yet: {told}"
    except host.SanitizerError as error:
        return f"Not yet: {'threads race for one element' if 'data race' in str(error) else checking.not_yet(error)}."
    except (host.CompileError, host.KernelError, ValueError) as error:
        return checking.not_yet(error)
    if "atomic" in (code := kernels.without_comments(text)) or "##" in code:
        return "Not yet: the sums are right, but by an atomic function, which adds in the order in which threads come."
    return "Right: each block leaves its own sum, so the order in which blocks end does not matter."


def _wrong_sums(kernel: host.HostKernel, size: int, threads: int) -> str | None:
    """Return the first element of `total` that is not its block's sum, in words, or None. Raises KernelError."""
    random, starts = np.random.default_rng(), range(0, size, threads)
    old = random.integers(10_000, 100_000, len(starts)).astype(np.float32)
    total, x = old.copy(), random.integers(1, 32, size).astype(np.float32)
    kernel((len(starts),), (threads,), (x, total, np.int64(size)))
    expected = np.add.reduceat(x, starts)
    if (unwritten := np.flatnonzero(total == old)).size:
        return f"nobody wrote total[{unwritten[0]}]"
    if (added := np.flatnonzero(total > old)).size:
        return f"total[{added[0]}] held {old[added[0]]:.0f} and has {total[added[0]]:.0f} now: added, not written"
    if (wrong := np.flatnonzero(total != expected)).size:
        block = wrong[0]
        return f"total[{block}] is {total[block]:.0f}; the elements of block {block} add up to {expected[block]:.0f}"
    return None
