"""What lesson 03 measures: sums and prefix sums, what compilers make of CUB, and CuPy's sums without CUB.

`builds`, `refusals` and the judges need no GPU; `builds` and `refusals` need the compilers.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from fourways import building, checking, host, kernels, tables, timing, toolchain
from fourways.tables import Column, Row, Table, summary

THREADS = 512
"""Threads of a block of the kernels that `race` launches."""
_BUILDS = 7  # of each text by each compiler in a recording
_TIMEOUT = 5  # seconds
_SUMS = """
import json
import cupy as cp
from fourways import timing
cube = cp.ones((256, 256, 256), cp.float32)
calls = [lambda: cp.sum(cube), lambda: cp.sum(cube, axis=2)]
assert [float(call().ravel()[-1]) for call in calls] == [256**3, 256]
print(json.dumps([timing.summary(timing.device_seconds(call)) for call in calls]))
"""
_VERSION = """
#include <cub/block/block_reduce.cuh>
extern "C" __global__ void version(int *y) { *y = CUB_VERSION; }
"""
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SCAN = """
#undef warp_scan
extern "C" __global__ void scan(const float *x, float *y)
{
    const float value = x[threadIdx.x];
    y[threadIdx.x] = warp_scan(value);
}
"""


def odd_numbers(size: int) -> Any:
    """Return `size` odd whole numbers from -15 to 15 on the GPU (float32): few different ones, repeated."""
    import cupy as cp

    few = 2 * np.random.default_rng(1).integers(-8, 8, min(size, 2**22), dtype=np.int8) + 1
    return cp.resize(cp.asarray(few.astype(np.float32)), size)


def race(
    texts: Mapping[str, str], more: Mapping[str, Callable[[Any, Any], Any]] | None = None, size: int = 2**26
) -> Table:
    """Time sums of the same `size` floats (device clock), in turns, and the device copy of as many bytes.

    Each text holds a kernel `reduce(x, total, n)`; it is compiled by NVRTC and launched with a thread for each
    element, after `total` was set to 0. `more` holds functions of `x` and `total`, CuPy's arrays.
    `more` may also return the sum, or parts of it. The numbers are small and whole, so every order of adding that these
    kernels use gives the same sum. Raises AssertionError where another comes.
    """
    import cupy as cp

    x, total = odd_numbers(size), cp.zeros(1, np.float32)
    right = float(x.astype(np.float64).sum())

    def compiled(text: str) -> Callable[[], None]:
        kernel = cp.RawModule(code=text).get_function("reduce")

        def call() -> None:
            total.fill(0)
            kernel((-(-size // THREADS),), (THREADS,), (x, total, np.int64(size)))

        return call

    calls: dict[str, Callable[[], Any]] = {name: compiled(text) for name, text in texts.items()}
    for name, function in (more or {}).items():
        calls[name] = partial(function, x, total)
    for name, call in calls.items():
        total.fill(np.nan)
        returned = call()
        got = float((total if returned is None else returned).sum())
        assert got == right, f"{name}: {got} instead of {right}"
    timed = timing.time_calls(calls, moved=x.nbytes, name="sums")
    timed.note = f"{size:,} elements."
    return timed


def in_blocks(kernel: Any, blocks: int) -> Callable[[Any, Any], None]:
    """Return a function of `x` and `total`, CuPy's arrays, that launches the kernel `reduce` with so many blocks."""

    def call(x: Any, total: Any) -> None:
        total.fill(0)
        kernel((blocks,), (THREADS,), (x, total, np.int64(x.size)))

    return call


def not_added(text: str) -> Callable[[Any, Any], Any]:
    """Return a function of `x` and `total`, CuPy's arrays, that launches the kernel `reduce` as `race` does.

    But each block leaves its sum in an element of its own, which no other block touches. These sums are returned.
    """
    import cupy as cp

    kernel = cp.RawModule(code=text.replace("atomicAdd(total, sum)", "total[blockIdx.x] = sum")).get_function("reduce")
    parts = cp.zeros(2**17, np.float32)

    def call(x: Any, total: Any) -> Any:
        blocks = -(-x.size // THREADS)
        total.fill(0)  # as the kernels that add
        kernel((blocks,), (THREADS,), (x, parts, np.int64(x.size)))
        return parts[:blocks]

    return call


def different_results(calls: Mapping[str, Callable[[Any, Any], None]], runs: int = 100, size: int = 2**27) -> Table:
    """Run each `call(x, y)` on the same random numbers from 0 to 1, and count the different results.

    `y` has as many elements as `x`; a result is the bits of all of them. The error is that of
    a single sum, relative to the sum in float64.
    """
    import cupy as cp

    x = cp.random.default_rng(1).random(size, dtype=cp.float32)
    exact = sum(float(part.astype(np.float64).sum()) for part in cp.array_split(x, 8))
    rows: list[Row] = []
    for name, call in calls.items():
        results, errors = set(), list[float]()
        for _ in range(runs):
            y = cp.zeros_like(x)
            call(x, y)
            results.add(int(y.view(np.int64).sum()))
            if not bool(y[1:].any()):  # a sum alone
                errors.append(abs(float(y[0]) - exact) / exact)
        row = {"call": name, "runs": runs, "different_results": len(results)}
        rows.append(row | ({"error": f"{max(errors):.0e}"} if errors else {}))
    return Table("different_results", rows, note=f"{size:,} random elements.")


def builds(texts: Mapping[str, str]) -> Table:
    """Compile each text with both compilers for sm_90 (host clock, medians, in turns)."""
    pairs = [(name, compiler) for name in texts for compiler in building.COMPILERS]
    samples: dict[tuple[str, str], list[building.Build]] = {pair: [] for pair in pairs}
    rounds = timing.rounds(_BUILDS)
    for name, compiler in timing.turns(rounds, pairs):
        samples[name, compiler].append(building.build(texts[name], compiler, arch="sm_90"))
    rows = [
        {
            "kernel": name,
            "compiler": compiler,
            "clock": "host",
            "seconds": summary([one.seconds for one in built]),
            "registers": built[0].registers,
        }
        for (name, compiler), built in samples.items()
    ]
    columns: list[Column] = ["kernel", "compiler", "seconds", tables.RANGE, "registers"]
    return Table("cub_builds", rows, columns, f"Host clock. For sm_90, {rounds} builds each.")


def refusals(texts: Mapping[str, str]) -> Table:
    """Compile each text with both compilers, and return what each says: "compiles", or its first error."""
    rows: list[Row] = []
    for name, text in texts.items():
        row: Row = {"text": name}
        for compiler in building.COMPILERS:
            try:
                building.build(text, compiler, arch="sm_90")
                row[compiler] = "compiles"
            except building.BuildError as refused:
                lines = [line for line in str(refused).splitlines() if "error" in line]
                row[compiler] = lines[0].split("): ")[-1].removeprefix("catastrophic ").removeprefix("error: ")
        rows.append(row)
    return Table("refusals", rows)


def cub_versions() -> dict[str, str]:
    """Return the versions of CUB that CuPy's `RawModule` includes, and that nvcc takes from the toolkit."""
    import cupy as cp

    y = cp.zeros(1, np.int32)
    cp.RawModule(code=_VERSION).get_function("version")((1,), (1,), (y,))
    ptx = building.build(_VERSION, "nvcc", output="ptx").code.decode()
    numbers = {"CuPy's RawModule": int(y[0]), "the toolkit": max(map(int, re.findall(r"\b\d{6}\b", ptx)))}
    return {name: f"{number // 100_000}.{number // 100 % 1000}.{number % 100}" for name, number in numbers.items()}


def arrangements(choices: Iterable[tuple[str, str]], columns: int = 2048) -> Table:
    """Time `normalise` and `scan` with CUB's arrangements of a tile (device clock), and check their results.

    A choice is a kernel's name and the end of CUB's `BLOCK_LOAD_…`. Each row of the matrix has one block of 128
    threads; a tile has 2,048 elements.
    """
    import cupy as cp

    matrix = odd_numbers(timing.gpu_size(8, most=2**27)).reshape(-1, columns)
    out = cp.empty_like(matrix)
    calls, results = {}, []
    for name, arrangement in choices:
        options = tuple(f"-D{move}=cub::BLOCK_{move}_{arrangement}" for move in ("LOAD", "STORE"))
        kernel = cp.RawModule(code=kernels.source(name), options=options).get_function(name)
        arguments = (matrix, out, np.int64(len(matrix)), np.int64(columns))
        call = calls[f"{name}, {arrangement}"] = partial(kernel, (len(matrix),), (128,), arguments)
        out.fill(np.nan)
        call()
        right = matrix.cumsum(axis=1) if name == "scan" else matrix / cp.linalg.norm(matrix, axis=1, keepdims=True)
        results.append("right" if bool(cp.allclose(out, right, rtol=1e-5, atol=0)) else "WRONG")
    timed = timing.time_calls(calls, moved=2 * matrix.nbytes, name="arrangements")
    rows = [row | {"result": result} for row, result in zip(timed.rows, [*results, ""], strict=True)]
    columns_shown: list[Column] = ["way", "seconds", "bytes_per_second", "share", "result"]
    return Table("arrangements", rows, columns_shown, note=f"{len(matrix):,} rows of {columns:,} elements.")


def scans(calls: Mapping[str, Callable[[Any, Any], Any]], one_block: Callable[[Any, Any], None], size: int) -> Table:
    """Time prefix sums of `size` floats (device clock), `one_block` on 2²² of them, and `cupy.cumsum` with its copy.

    The functions take CuPy's arrays `x` and `y`. Raises AssertionError where one of them is wrong.
    """
    import cupy as cp

    x = odd_numbers(size)
    y, few = cp.empty_like(x), 2**22
    right = cp.cumsum(x)
    for name, call in calls.items():
        y.fill(np.nan)
        call(x, y)
        assert bool((y == right).all()), name
    alone = summary(timing.device_seconds(lambda: one_block(x[:few], y[:few])))["median"]
    timed: dict[str, Callable[[], Any]] = {name: partial(call, x, y) for name, call in calls.items()}
    timed |= {"cupy.cumsum": lambda: cp.cumsum(x), "its copy alone": lambda: x.astype(np.float32)}
    table = timing.time_calls(timed, moved=2 * x.nbytes, name="scans")
    table.note = f"{size:,} elements. One block with BlockScan, on {few:,}: {tables.rate(8 * few / alone)}."
    return table


def accelerators() -> Table:
    """Time CuPy's sums over a cube of 256³ ones with and without CUB, each in a fresh process (device clock)."""
    rows: list[Row] = []
    for setting in (None, ""):
        variables = {name: value for name, value in os.environ.items() if name != "CUPY_ACCELERATORS"}
        variables |= toolchain.child_environment() | ({} if setting is None else {"CUPY_ACCELERATORS": setting})
        done = subprocess.run([sys.executable, "-c", _SUMS], env=variables, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"a fresh process failed:\n{done.stderr.strip()}")
        one, many = json.loads(done.stdout)
        row: Row = {"accelerators": "not set" if setting is None else '""', "clock": "device", "one_sum_seconds": one}
        rows.append(row | {"a_sum_for_each_row_seconds": many})
    columns: list[Column] = [("CUPY_ACCELERATORS", lambda row: row["accelerators"]), *list(rows[0])[1:]]
    return Table("accelerators", rows, columns, "A cube of 256³ elements.")


def check_warp_scan(function: str) -> str:
    """Judge the text of `__device__ float warp_scan(float value)`: the sum of the values of this lane and all below.

    The function gets values alone, no array, and must exchange them by a shuffle. It is tried twice by the host way, on
    five warps of one block, with other numbers each time.
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
    if "__shfl" not in re.sub(r"(?m)^\s*#.*", "", _COMMENT.sub("", function)):
        return "Not yet: the sums are right, but no lane got a value by `__shfl_up_sync`."
    return "Right for five warps."


def check_partial_sums(text: str) -> str:
    """Judge the text of a kernel `reduce(x, total, n)`, in which block b leaves the sum of its elements in total[b].

    It is launched by the host way with a thread for each element, in blocks of 64 to 256 threads, and races between
    threads and between blocks are looked for. Before, `total` holds other numbers. Atomic functions are refused:
    they let threads add in the order in which they come.
    """
    try:
        for race in ("thread", "blocks"):
            kernel = host.compile(text, sanitize=race, timeout=_TIMEOUT).get_function("reduce")
            for size, threads in ((1000, 64), (1, 64), (256, 128), (129, 128), (1024, 256)):
                if wrong := _wrong_sums(kernel, size, threads):
                    return f"Not yet: n = {size}, blocks of {threads} threads: {wrong}."
        if not _wrong_sums(_without_block_1(text), 256, 128):
            return (
                "Not yet: the sums are right, but block 1 does nothing for them. Let each block add its own elements."
            )
    except host.SanitizerError as error:
        return f"Not yet: {'threads race for one element' if 'data race' in str(error) else checking.not_yet(error)}."
    except (host.CompileError, host.KernelError, ValueError) as error:
        return checking.not_yet(error)
    if "atomic" in (code := _COMMENT.sub("", text)) or "##" in code:
        return "Not yet: the sums are right, but by an atomic function, which adds in the order in which threads come."
    return "Right: each block leaves its own sum, so the order in which blocks end does not matter."


def _without_block_1(text: str) -> host.HostKernel:
    """Return the learner's kernel, in which block 1 ends at once."""
    without = re.sub(r"(\breduce\s*\([^)]*\)\s*\{)", r"\1 if (blockIdx.x == 1) return;", text)
    return host.compile(without, timeout=_TIMEOUT).get_function("reduce")


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


def launched_in_blocks(kernel: Any, blocks: Sequence[int], size: int = 256**3) -> Table:
    """Time the kernel `reduce` on `size` ones with each number of blocks (device clock)."""
    import cupy as cp

    ones, total = cp.ones(size, cp.float32), cp.zeros(1, cp.float32)
    arguments = (ones, total, np.int64(size))
    calls = {f"blocks: {number}": partial(kernel, (number,), (THREADS,), arguments) for number in blocks}
    return timing.time_calls(calls)
