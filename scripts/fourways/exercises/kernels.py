"""Judges of exercises about kernels and plug-ins, which the host way runs. None needs a GPU."""

import random
import tempfile
from pathlib import Path

import numpy as np

from fourways import building, checking, host, linking, own_kernel
from fourways.exercises.functions import Answer, run_kernel, same


def check_axpby(text: str, make_inputs: Answer) -> str:
    """Judge the text of a kernel `axpby(a, x, y, z, n)`, where the macro `B` is the factor of y, 1 by default."""
    options = iter(["", "-DB=3", f"-DB={random.randrange(4, 1000)}"])

    def axpby(option: str, a: np.float32, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        blocks, z = (x.size + 255) // 256, np.full_like(x, np.nan)
        run_kernel(text, "axpby", (blocks,), (256,), a, x, y, z, np.int64(x.size), options=tuple(option.split()))
        return z

    def right(option: str, a: np.float32, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return a * x + int(option[4:] or 1) * y

    return same(axpby, right, lambda: (next(options), *make_inputs(random.randrange(300, 1000))), 3, rtol=1e-5)


def check_of_the_copy(answer: Answer) -> str:
    """Judge `answer(reads, writes, seconds, copied, copied_seconds)`: a call's share of a copy's rate."""

    def right(reads: list, writes: list, seconds: float, copied: np.ndarray, copied_seconds: float) -> float:
        return sum(each.nbytes for each in reads + writes) / seconds / (2 * copied.nbytes / copied_seconds)

    def draw() -> tuple:
        arrays = [np.zeros(random.randrange(1, 4), random.choice(["f2", "f8"])) for _ in range(4)]
        return arrays[:2], arrays[2:3], random.uniform(1, 2), arrays[3], random.uniform(1, 2)

    return same(answer, right, draw, rtol=1e-6, hint="A copy reads and writes each byte.")


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
    """Judge the text of a kernel `reduce(parts, total, number)`: one block sets total[0], each time the same bits."""
    rng = np.random.default_rng()

    def sums_of_ten_runs(parts: np.ndarray) -> list[float]:
        totals = rng.integers(10_000, 20_000, (10, 1)).astype(np.float32)
        for total in totals:
            run_kernel(_BY_LOT + text, "reduce", (1,), (128,), parts, total, np.int64(parts.size))
        return sorted(set(totals.ravel().tolist()))

    def draw() -> tuple[np.ndarray]:
        return (1 + rng.random(rng.choice([100, 300, 2000]), np.float32),)

    return same(sums_of_ten_runs, lambda parts: [parts.sum(dtype=np.float64)], draw, 5, rtol=1e-4)


def check_any_grid(text: str) -> str:
    """Judge the text of a kernel `tiled(a, b, h, w)` that transposes through a tile of TILE × TILE floats.

    Blocks have 4 × 2 threads, TILE is 4. Also looked for are races in a block and between blocks.
    """
    rng = np.random.default_rng()

    def tiled(grid: tuple[int, int], a: np.ndarray, sanitize: str | None = None) -> np.ndarray:
        b, sizes = np.full(a.T.shape, np.nan, np.float32), map(np.int64, a.shape)
        run_kernel(text, "tiled", grid, (4, 2), a, b, *sizes, options=("-DTILE=4", "-DPAD=1"), sanitize=sanitize)
        return b

    def draw() -> tuple[tuple[int, int], np.ndarray]:
        down, right, *grid = rng.integers((3, 3, 1, 1), (6, 6, 5, 5)).tolist()
        return tuple(grid), rng.random((4 * down, 4 * right), np.float32)

    told = same(tiled, lambda grid, a: a.T, draw, 8)
    for grid, kind in (((1, 1), "thread"), ((2, 2), "blocks")):
        try:
            if told.startswith("Right"):
                tiled(grid, rng.random((16, 20), np.float32), kind)
        except host.SanitizerError:
            what = "threads of a block use one element of the tile" if kind == "thread" else "blocks write one element"
            return f"Not yet: the answers are right, but two {what}, and nothing orders them."
    return told


_PLATES = """
struct Plate {{ float *data; long long h, w; }};
#line 1
{}
extern "C" __global__ void plates(float *memory, const long long *u, const long long *v, int *answer)
{{
    *answer = overlap(Plate{{memory + u[0], u[1], u[2]}}, Plate{{memory + v[0], v[1], v[2]}});
}}
"""


def check_overlap(text: str) -> str:
    """Judge the C++ text of `bool overlap(const Plate &u, const Plate &v)`: do the plates share a float?"""

    def overlap(u: list[int], v: list[int]) -> bool:
        memory, answer = np.zeros(100, np.float32), np.zeros(1, np.int32)
        run_kernel(_PLATES.format(text), "plates", (1,), (1,), memory, np.array(u), np.array(v), answer)
        return bool(answer[0])

    def right(u: list[int], v: list[int]) -> bool:
        return u[0] < v[0] + v[1] * v[2] and v[0] < u[0] + u[1] * u[2]

    def draw() -> tuple[list[int], ...]:
        (h, w), (other_h, other_w) = ([random.randrange(2, 6) for _ in range(2)] for _ in range(2))
        start = random.choice([0, h * w, random.randrange(1, h * w), h * w + 20])
        return tuple(random.sample([[0, h, w], [start, other_h, other_w]], 2))

    return same(overlap, right, draw, 40, hint="A plate is shown as [its first float's number, h, w].")


def check_gapless(answer: Answer) -> str:
    """Judge `answer(shape, strides)`: do the floats of a plate of at least one cell lie row by row without gaps?"""

    def right(shape: tuple[int, int], strides: tuple[int, int] | None) -> bool:
        (h, w), (down, across) = shape, strides or (4 * shape[1], 4)
        return (h == 1 or down == 4 * w) and (w == 1 or across == 4)

    def draw() -> tuple[tuple[int, int], tuple[int, int] | None]:
        h, w, gap = random.choice([1, 1, 2, 5]), random.choice([1, 1, 3, 8]), random.choice([1, 2])
        return (h, w), random.choice([(4 * gap * w, 4), (4 * gap * w, 4 * gap), (4, 4 * h), (64, 4), None])

    return same(answer, right, draw, 200)


_COUNTS = 'extern "C" __device__ float user_transform_times(float x, int times) { return x + 1000 + times; }\n'


def check_one_call(library: str, plugin: str) -> str:
    """Judge a kernel `apply_transform(x, y, n)`, and a plug-in that it must call once for CALLS repetitions."""
    times, plugins = random.randrange(65, 100), iter([plugin, _COUNTS])

    def applied(plugin: str, x: np.ndarray) -> np.ndarray:
        options, y = (f"-DCALLS={times}",), np.full_like(x, np.nan)
        run_kernel(plugin + library, "apply_transform", (1,), (32,), x, y, np.int64(x.size), options=options)
        return y

    def right(plugin: str, x: np.ndarray) -> np.ndarray:
        return x + 1000 + times if plugin == _COUNTS else 0.99**times * x + 50 * (1 - 0.99**times)

    def draw() -> tuple[str, np.ndarray]:
        return next(plugins), np.array(random.sample(range(9), 4), np.float32)

    return same(applied, right, draw, 2, rtol=1e-5, hint=f"CALLS is {times}; the judge's plug-in adds 1000 + times.")


def check_front_door(accept: Answer) -> str:
    """Judge `accept(text)`: a program without a call for a plug-in that fits, ValueError with a reason for others."""
    factor = f"{random.uniform(0.1, 0.9):.3f}f"
    fits = f'extern "C" __device__ float user_transform(float x) {{ return {factor} * x + {factor}; }}'
    plugins = {
        "one that fits": fits,
        "no user_transform": fits.replace("user_transform", "mine"),
        "double for float": fits.replace("float", "double"),
        "no semicolon": fits.replace(";", ""),
        "__noinline__": fits.replace("__device__", "__device__ __noinline__"),
    }

    def accepted(plugin: str) -> str:
        try:
            return f"a program with {linking.calls_left(accept(plugins[plugin]).code, 'apply_transform')} calls"
        except ValueError:
            return "ValueError"

    expected = dict.fromkeys(plugins, "ValueError") | {"one that fits": "a program with 0 calls"}
    drawn = iter(plugins)
    return same(accepted, expected.get, lambda: (next(drawn),), len(plugins))


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

    zeros = iter([2, 3, 4, 5, 7])  # no taps at all last: most answers show what is wrong with them before

    def draw() -> tuple[np.ndarray]:
        taps = np.random.default_rng().uniform(-1, 1, 7).astype(np.float32)
        taps[random.sample(range(7), next(zeros))] = 0
        return (taps,)

    return same(your_sums, lambda taps: taps, draw, 5, hint="x is infinite where a tap is 0: 0 times infinity is NaN.")


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


_SMOOTH = """
extern "C" __global__ void smooth(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int first = max(i - 1, 0), last = min(i + 1, n - 1);
    float sum = 0;
    for (int k = first; k <= last; ++k) sum += x[k];
    y[i] = sum / (last - first + 1);
}
"""
_NOT_SMOOTH = {
    "copies x": _SMOOTH.replace("sum / (last - first + 1)", "x[i]"),
    "takes thirds at the ends, too": _SMOOTH.replace("(last - first + 1)", "3"),
    "is wrong by a tenth": _SMOOTH.replace("= sum", "= 1.1f * sum"),
    "writes the first block's elements": _SMOOTH.replace("if (i >= n)", "if (i >= n || blockIdx.x)"),
}


def check_smooth(kernel: str, case: str) -> str:
    """Judge the texts of `smooth(x, y, n)`, which takes a thread for each element, and of its case, by the host way."""
    if told := _fault(_SMOOTH, case):
        return f"Not yet: your case refuses a kernel that is right: {told}"
    for what, text in _NOT_SMOOTH.items():
        if not _fault(text, case):
            return f"Not yet: with your case a kernel passes that {what}."
    if told := _fault(kernel, case):
        return f"Not yet: {told}"
    return "Right: the kernel is right, and your case takes it and refuses four wrong ones."


def _fault(kernel: str, case: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {"smooth.cu": kernel, "smooth_case.py": case}.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        try:
            checking.check(own_kernel.read(f"{folder}/smooth.cu", f"{folder}/smooth_case.py", 10).ways(["host"]))
        except (checking.CheckFailure, building.BuildError, RuntimeError, TypeError, ValueError) as error:
            return checking.not_yet(error).removeprefix("Not yet: ")
    return ""
