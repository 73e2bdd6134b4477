"""Judges take right answers of other forms than the page's solution; `tests/lessons` gives them the page's answers."""

import ctypes
import random
import re
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fourways import lesson, toolchain
from fourways.experiments import clocks, more_ways, pipelines, shipping, sums, there_and_back, transposing, tuning

needs_host = pytest.mark.skipif(toolchain.missing("host compiler") is not None, reason="no C++ compiler")

OWNER = """
extern "C" __global__ void __launch_bounds__(256) owner(int *y, long long n)
{
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (long long i = thread; i < n; i += (long long)gridDim.x * blockDim.x)
        mark(y + i);
}
"""
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
TILED = """
extern "C" __global__ void tiled(const float *a, float *b, long long h, long long w)
{
    __shared__ float tile[TILE][TILE + PAD];
    for (long long y = TILE * blockIdx.y; y < h; y += TILE * gridDim.y)
        for (long long x = TILE * blockIdx.x; x < w; x += TILE * gridDim.x) {
            for (int i = threadIdx.y; i < TILE; i += blockDim.y)
                tile[i][threadIdx.x] = a[(y + i) * w + x + threadIdx.x];
            __syncthreads();
            for (int i = threadIdx.y; i < TILE; i += blockDim.y)
                b[(x + i) * h + y + threadIdx.x] = tile[threadIdx.x][i];
            __syncthreads();
        }
}
"""
IN_A_STRUCT = re.sub("__shared__ (.*);", r"__shared__ struct { \1; } s;", TILED)
IN_A_STRUCT = IN_A_STRUCT.replace("tile[i]", "s.tile[i]").replace("tile[thr", "s.tile[thr")


@needs_host
def test_kernels() -> None:
    assert there_and_back.check_owner(OWNER).startswith("Right")
    assert sums.check_warp_scan(WARP_SCAN).startswith("Right")


@needs_host
@pytest.mark.parametrize(
    "text",
    [
        "#define MEET __syncthreads()\n" + TILED.replace("__syncthreads()", "MEET"),
        TILED.replace("__shared__ float", "__shared__ __align__(16) volatile float"),
        TILED.replace("__shared__ float", "__shared__ float spare[2],"),
        TILED.replace("__shared__ float", "__shared__ double"),
        TILED.replace("tile[TILE]", "tile[TILE + 1]").replace("tile[i]", "tile[i + 1]").replace("x][i]", "x + 1][i]"),
        IN_A_STRUCT,
    ],
)
def test_two_barriers(text: str) -> None:
    assert transposing.check_any_grid(text).startswith("Right on 5 grids, without a race")


def interquartile_mean(taken: list[float]) -> float:
    cut = len(taken) // 4
    return float(np.mean(sorted(taken)[cut : len(taken) - cut]))


@pytest.mark.parametrize("number", [np.median, interquartile_mean])
@pytest.mark.parametrize("warm_up", [0, 2])
def test_turns_by_lot_are_fair_whatever_the_lot(number: Callable[[list[float]], float], warm_up: int) -> None:
    for seed in range(20):
        lots = random.Random(seed)

        def fair(calls: Any, rounds: int, clock: Callable[[], float], lots: Any = lots) -> dict[str, float]:
            samples: dict[str, list[float]] = {name: [] for name in calls}
            for _ in range(warm_up + rounds):
                for name in lots.sample(list(calls), len(calls)):
                    start = clock()
                    calls[name]()
                    samples[name].append(clock() - start)
            return {name: float(number(taken[warm_up:])) for name, taken in samples.items()}

        said = clocks.check_fair(fair)
        assert said.startswith("Right"), (seed, said)


def busy(gpu: clocks.MadeUpGpu, launches: int, delay: float = 1e-3) -> float:
    gpu.delay(delay)
    start = gpu.record()
    for _ in range(launches):
        gpu.launch()
    return gpu.elapsed(start, gpu.record())


@pytest.mark.parametrize(
    "seconds",
    [
        lambda gpu: busy(gpu, 2000, delay=0.1) / 2000,
        lambda gpu: np.float32((busy(gpu, 11) - busy(gpu, 1)) / 10),
        lambda gpu: float(np.median([busy(gpu, 2) - busy(gpu, 1) for _ in range(100)])),
    ],
)
def test_a_difference_and_a_long_row_give_the_kernel(seconds: Callable[[Any], float]) -> None:
    def kernel_seconds(gpu: clocks.MadeUpGpu) -> float:
        busy(gpu, 1)
        gpu.wait()
        return seconds(gpu)

    assert clocks.check_kernel_seconds(kernel_seconds).startswith("Right within 3 % on eight")


def test_pipelines_in_numpys_numbers_and_with_waits_that_cost_nothing() -> None:
    def shortest(chunks: int, seconds: dict[str, float]) -> np.float64:
        return np.float64(sum(seconds.values()) + (chunks - 1) * max(seconds.values()))

    def waits(stage: str, chunk: int, buffers: int) -> list[tuple[str, int]]:
        before = chunk - buffers
        needed = {"copy in": [("compute", before)], "compute": [("copy in", chunk), ("copy out", before)]}
        return [*needed.get(stage, [("compute", chunk)]), (stage, chunk - 1)]  # the stream orders the last anyway

    assert pipelines.check_shortest(shortest).startswith("Right")
    assert pipelines.check_waits(waits).startswith("Right")


def test_kernels_kept_by_any_copy_of_their_taps() -> None:
    for key in (bytes, lambda taps: tuple(taps.tolist())):
        kept: dict[Any, Any] = {}

        def smooth(build: Any, x: Any, taps: Any, y: Any, key: Any = key, kept: Any = kept) -> None:
            if key(taps) not in kept:
                kept[key(taps)] = build(taps)
            kept[key(taps)](x, y)

        assert tuning.check_kept(smooth) == "Right: 7 calls with 3 filters took 3 builds."


@needs_host
@pytest.mark.parametrize("count", [ctypes.c_longlong, ctypes.c_ssize_t])
@pytest.mark.parametrize("address", [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64])
def test_declarations(count: Any, address: Any) -> None:
    def declare(function: Any) -> None:
        function.argtypes, function.restype = [address, address, count, address], ctypes.c_char_p

    assert more_ways.check_declared(declare).startswith("Right")


def test_more_refusals_than_the_solution_has() -> None:
    names: dict[str, Any] = {"more_ways": SimpleNamespace(check_refusals=lambda refuse: ""), "print": lambda _: 0}
    (source,) = (cell for cell in lesson.find("12").cells("solution") if "def refuse" in cell)
    exec(source, names)

    def refuse(x: Any, y: Any) -> None:
        try:
            names["refuse"](x, y)
        except TypeError as error:
            raise type("NoArray", (TypeError,), {}) from error
        if x.__cuda_array_interface__["data"][0] == y.__cuda_array_interface__["data"][0]:
            raise ValueError("x and y overlap")

    assert more_ways.check_refusals(refuse).startswith("Right")


def test_picks_and_rpaths() -> None:
    def best(held: Sequence[str], gpu: str) -> str | None:
        starting = [name for name in held if toolchain.runs_on([name], gpu)]
        return max(starting, key=lambda name: (name[0] == "s", int(re.sub(r"\D", "", name))), default=None)

    for _ in range(5):
        assert shipping.check_pick(best).startswith("Right for ")
    for origin in ("$ORIGIN", "${ORIGIN}", "/opt/cuda/lib64:$ORIGIN/."):
        said = shipping.check_rpath(
            lambda module, origin=origin: f"{origin}{'/..' * module.count('/')}/nvidia/cu13/lib"
        )
        assert said == "Right for 23 modules."
