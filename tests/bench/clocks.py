"""The timer beside what must agree with it, and its warm samples beside calls in a row."""

import functools
import tempfile
from collections.abc import Iterator
from pathlib import Path

import cheating
import cupy
import numpy as np
from ratios import device, ratio, table

from fourways import lesson, timeline, timing
from fourways.tables import Row, Table, summary

SIZES = (2**10, 2**16, 2**20, 2**22, 2**24, 2**26)
SPIN = """extern "C" __global__ void spin(long long cycles, long long *end) {
    for (const long long start = clock64(); clock64() - start < cycles;);
    *end = clock64(); }"""
SPINS = """
import sys
import cupy
import numpy
spin, end = cupy.RawKernel(sys.argv[1], "spin"), cupy.empty(1, numpy.int64)
for cycles in map(numpy.int64, sys.argv[2:]):
    for _ in range(25):
        spin((1,), (1,), (cycles, end))
cupy.cuda.Device().synchronize()
"""
WAIT = """extern "C" __global__ void wait(long long ns) {
    long long start, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    do
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (now - start < ns); }"""
CHASE = """extern "C" __global__ void chase(const int *next, int *end) {
    int i = 0;
    for (int k = 0; k < 2000; ++k)
        i = next[i];
    *end = i; }"""
HONEST = """extern "C" __global__ void cheat(const float *x, float *y, unsigned long long *, long long n) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i]; }"""


def tables() -> Iterator[Table]:
    """All tables of this group."""
    yield table(beside_graphs(), "Device clock. Two events lengthen a kernel by a constant, which is subtracted.")
    yield table(beside_cupti(), "Device clock; CUPTI in a process of its own.")
    yield table(beside_calls_in_a_row(), "Device clock. Calls in a row find the output of the call before.")
    yield table(cold_and_warm(), "Device clock.")


def beside_graphs() -> list[Row]:
    """An empty kernel and doublify, alone and as nodes of a CUDA graph; a copy and two."""
    empty = cupy.RawKernel('extern "C" __global__ void nothing() {}', "nothing")
    nothing = functools.partial(empty, (1,), (1,), ())
    in_graph = summary(timing.graph_seconds(nothing, 1000))["median"]
    rows = [ratio("an empty kernel", device(nothing), "in a graph", in_graph, "0.3 µs apart at most")]
    doublify = lesson.load(lesson.find("01"), ["nvrtc"]).functions["nvrtc"]
    x = cupy.random.default_rng(1).standard_normal(SIZES[-1], dtype=cupy.float32)
    y = cupy.empty_like(x)
    for size in SIZES:
        call = functools.partial(doublify, x[:size], y[:size])
        in_graph = summary(timing.graph_seconds(call, 20))["median"]
        aim = "0.5 µs and 1 % apart at most"
        rows.append(ratio(f"doublify of {size:,}", device(call), "in a graph", in_graph, aim))
    wait = cupy.RawKernel(WAIT, "wait")
    for ns in (200_000, 1_000_000):
        taken = device(functools.partial(wait, (1,), (1,), (np.int64(ns),)))
        rows.append(ratio("a kernel that waits", taken, "what it was told", ns * 1e-9, "0.9 to 1.1"))

    def copy() -> None:
        y.data.copy_from_device_async(x.data, x.nbytes)

    one, two, roof = timing.time_calls({"one": copy, "two": lambda: (copy(), copy())}, 2 * x.nbytes).rows
    for name, row, aim in (("a copy", one, "0.95 to 1.05"), ("two copies", two, "1.9 to 2.1")):
        rows.append(ratio(name, row["seconds"]["median"], "the copy", roof["seconds"]["median"], aim))
    return rows


def beside_cupti() -> list[Row]:
    """Kernels of about 1 to 200 µs, and doublify."""
    lengths = [1_000, 10_000, 100_000, 400_000]  # cycles
    with tempfile.TemporaryDirectory(prefix="fourways-") as folder:
        program = Path(folder, "spins.py")
        program.write_text(SPINS)
        noted = timeline.of_program(program, SPIN, *map(str, lengths))
    seconds = np.reshape([row["seconds"] for row in noted if row.get("name") == "spin"], (len(lengths), 25))
    spin, end = cupy.RawKernel(SPIN, "spin"), cupy.empty(1, np.int64)
    rows = []
    for cycles, by_cupti in zip(lengths, np.median(seconds[:, 5:], axis=1).tolist(), strict=True):
        taken = device(functools.partial(spin, (1,), (1,), (np.int64(cycles), end)))
        rows.append(ratio(f"{cycles:,} cycles", taken, "CUPTI", by_cupti, "0.2 µs and 0.2 % apart at most"))
    doublify = lesson.find("01")
    recorded = timeline.table(timeline.of_lesson(doublify, "nvrtc", 2**26)).rows
    by_cupti = next(row for row in recorded if row["name"] == "doublify")["seconds"]["median"]
    timed = timing.time_ways(lesson.load(doublify, ["nvrtc"]), ["nvrtc"], 2**26)[0]["seconds"]["median"]
    return [*rows, ratio("doublify of 67,108,864", timed, "CUPTI", by_cupti, "0.8 to 1.2")]


def beside_calls_in_a_row() -> list[Row]:
    """Samples before which the output was restored; and what a kernel gains that looks for the answer in its output."""
    ways = lesson.load(lesson.find("01"), ["nvrtc"])
    rows = []
    for size in SIZES:
        x = cupy.asarray(ways.make_inputs(size)[0])
        in_a_row = device(functools.partial(ways.functions["nvrtc"], x, cupy.empty_like(x)))
        restored = timing.time_ways(ways, ["nvrtc"], size)[0]
        for name, key in (("restored", "seconds"), ("restored, cold", "cold_seconds")):
            aim = "0.97 to 1.03" if key == "seconds" else ""
            rows.append(ratio(f"{size:,}, {name}", restored[key]["median"], "in a row", in_a_row, aim))
    counters = cupy.zeros((2, 1), np.uint64)
    cheat, honest = (
        timing.time_ways(cheating.ways_of("nvrtc", cupy.RawKernel(text, "cheat"), *counters), ["nvrtc"], SIZES[-1])
        for text in (cheating.KERNEL, HONEST)
    )
    taken, base = cheat["seconds"]["median"], honest["seconds"]["median"]
    return [*rows, ratio("a kernel that cheats", taken, "an honest one", base, "1 at least")]


def cold_and_warm() -> list[Row]:
    """A kernel that streams more than the L2 cache holds, and one whose data lie in it."""
    saxpy = lesson.load(lesson.find("02"), ["nvrtc"]).functions["nvrtc"]
    x, y, z = cupy.zeros((3, 2**24), cupy.float32)
    stream = functools.partial(saxpy, np.float32(2), x, y, z)
    chase = cupy.RawKernel(CHASE, "chase")
    following = cupy.roll(cupy.arange(2000 * 64, dtype=cupy.int32), -64)  # each step in a cache line of its own
    steps = functools.partial(chase, (1,), (1,), (following, cupy.zeros(1, cupy.int32)))
    return [
        ratio("saxpy, cold", device(stream, cold=True), "warm", device(stream), "1.01 at most"),
        ratio("a chase through 0.5 MB, cold", device(steps, cold=True), "warm", device(steps), "1.3 at least"),
    ]
