"""The launches of saxpy that the clocks time, and what a program pays for beside the kernel."""

import functools
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fourways import fresh_process, measuring, tables, timing
from fourways.tables import Column, Row, Table, summary

Call = Callable[[], Any]
Timer = Callable[[Call], float]
"""A function that runs a call and returns the seconds of one sample."""
Saxpy = Callable[[Any, Any, Any, Any], Any]
"""A way's function of a, x, y and z."""


def longest() -> int:
    """Return the number of elements of the longest kernel: 2²⁸, or the largest power of two that fits the GPU."""
    return measuring.gpu_size(bytes_per_element=12, most=2**28)


@functools.cache
def _arrays() -> tuple[Any, Any, Any]:
    import cupy as cp

    x, y = cp.full(longest(), 1 / 3, cp.float32), cp.ones(longest(), cp.float32)
    return x, y, cp.empty_like(x)


def on_gpu(saxpy: Saxpy, size: int | None = None) -> Call:
    """Return a call without arguments: `saxpy(a, x, y, z)` for the first `size` elements of float32 arrays on the GPU.

    All calls share three arrays of `longest()` elements, which is the default of `size`.
    """
    x, y, z = _arrays()
    return functools.partial(saxpy, np.float32(2.5), x[:size], y[:size], z[:size])


def busy() -> None:
    """Keep the GPU busy for about 0.2 ms, so that Python can queue what comes next meanwhile; wait for nothing."""
    timing.busy(0.2e-3)


def graph_seconds(call: Call, count: int) -> list[float]:
    """Return the seconds per call of a CUDA graph of `count` calls (device clock)."""
    return [sample / count for sample in measuring.device_seconds(timing.captured(call, count).launch)]


_STAGES = """
import json, sys, time

source = json.load(sys.stdin)["source"]
marks = {"start": time.perf_counter()}


def mark(stage):
    marks[stage] = time.perf_counter()


import cupy as cp, numpy as np
from cuda.core import Program, ProgramOptions
mark("import")
cp.cuda.runtime.free(0)  # does nothing, in a context that it must first create
mark("context")
x = cp.empty(2**20, np.float32)
mark("first block")
del x
x = cp.empty(2**20, np.float32)
mark("block again")
options = ProgramOptions(arch=f"sm_{cp.cuda.Device().compute_capability}", no_cache=True)
cubin = Program(source, "c++", options).compile("cubin").code
mark("compile")
module = cp.cuda.function.Module()
module.load(cubin)
mark("load module")
kernel = module.get_function("saxpy")
mark("get function")
arguments = (1024,), (256,), (np.float32(2), x, x, x, np.int64(x.size))
kernel(*arguments)
cp.cuda.Device().synchronize()
mark("first launch")
kernel(*arguments)
cp.cuda.Device().synchronize()
mark("launch again")
float(x.sum())
mark("first sum")
float(x.sum())
mark("sum again")
stages, times = list(marks), list(marks.values())
print(json.dumps({s: b - a for s, a, b in zip(stages[1:], times, times[1:])}))
"""
_MODES = ("LAZY", "EAGER")


def first_call(source: str, waited: Timer) -> None:
    """Time ten calls of saxpy that no cache has seen, and print the first, a later one, and what the mean makes of it.

    `waited` is the lesson's timer. The arrays have 2²⁰ elements.
    """
    import cupy as cp

    ones = cp.ones(2**20, cp.float32)
    arguments = np.float32(2.5), ones, ones, cp.empty_like(ones), np.int64(ones.size)
    unseen = cp.RawKernel(f"{source}// never compiled before: {time.time_ns()}", "saxpy")
    seconds = [waited(functools.partial(unseen, (1024,), (256,), arguments)) for _ in range(10)]
    later = float(np.median(seconds[1:]))
    print(f"first call {tables.seconds(seconds[0])}, later calls {tables.seconds(later)}")
    print(
        f"mean of all ten: {tables.seconds(float(np.mean(seconds)))}, {np.mean(seconds) / later:.0f} times a later call"
    )


def warm_and_cold(saxpy: Saxpy, events: Callable[..., float]) -> Table:
    """Time saxpy at six sizes with the arrays in the L2 cache and not (device clock), and after a fill of the cache.

    The cache is emptied by reading other data, or filled by writing twice its size.
    """
    import cupy as cp

    cache = cp.cuda.Device().attributes["L2CacheSize"]
    other = cp.empty(2 * cache, cp.uint8)
    rows: list[Row] = []

    def overwrite() -> None:
        other.fill(0)
        busy()

    for power in range(16, min(27, longest().bit_length()), 2):
        call = on_gpu(saxpy, 2**power)
        row: Row = {"size": 2**power, "bytes": 12 * 2**power, "clock": "device"}
        row["seconds"] = summary(measuring.device_seconds(call))
        row["cold_seconds"] = summary(measuring.device_seconds(call, cold=True))
        written = [events(call, first=overwrite) for _ in range(20)]
        row["written_seconds"] = summary(np.subtract(written, timing.events_add()).tolist())
        row["ratio"] = row["cold_seconds"]["median"] / row["seconds"]["median"]
        rows.append(row)
    columns: list[Column] = [
        ("elements", "size"),
        ("all arrays", lambda row: f"{row['bytes'] / 1e6:.1f} MB"),
        ("warm", "seconds"),
        "cold_seconds",
        ("cold / warm", lambda row: f"{row['ratio']:.2f}"),
        ("full of writes", "written_seconds"),
    ]
    return Table("cold_cache", rows, columns, f"Device clock. The L2 cache holds {cache / 1e6:.0f} MB.")


def in_a_row(ways: Mapping[str, Saxpy], waited: Timer, count: int = 200) -> Table:
    """Time `count` launches in a row with one wait at the end (host clock, seconds a call), by way and size.

    `waited` is the lesson's timer. The kernel's own time is that in a CUDA graph of 50 launches through the first way
    whose launches a graph can hold, which is the first of `ways`.
    """
    sizes = [2**power for power in (10, 18, 20, 21, 22, 23, 24) if 2**power <= longest()]
    first, rows = next(iter(ways.values())), list[Row]()
    for size in sizes:
        calls = {way: functools.partial(_repeat, on_gpu(saxpy, size), count) for way, saxpy in ways.items()}
        samples = timing.in_turns({way: functools.partial(waited, call) for way, call in calls.items()}, 5, warm_up=1)
        row: Row = {"size": size, "clock": "host"}
        row["kernel_seconds"] = summary(graph_seconds(on_gpu(first, size), 50))
        rows.append(
            row | {f"{way}_seconds": summary(np.divide(taken, count).tolist()) for way, taken in samples.items()}
        )
    columns: list[Column] = [("elements", "size"), "kernel_seconds", *(f"{way}_seconds" for way in ways)]
    return Table("in_a_row", rows, columns, f"Host clock, per call of {count}; the kernel: device clock, in a graph.")


def _repeat(call: Call, count: int) -> None:
    for _ in range(count):
        call()


def full_queue(saxpy: Saxpy, alone: Timer, launches: int) -> None:
    """Launch a long kernel many times without a wait, time each launch by `alone`, and print when launches get slow."""
    import cupy as cp

    call = on_gpu(saxpy, min(longest(), 2**26))
    seconds = [alone(call) for _ in range(launches)]
    cp.cuda.Device().synchronize()
    kernel = summary(measuring.device_seconds(call))["median"]
    means = [float(np.mean(seconds[i : i + 100])) for i in range(0, launches, 100)]
    full = [100 * i for i, mean in enumerate(means) if mean > kernel / 2]
    print(f"the first hundred launches: {tables.seconds(means[0])} each")
    print(f"the last hundred launches:  {tables.seconds(means[-1])} each")
    print(f"the kernel:                 {tables.seconds(kernel)}")
    print(f"launches are slow from number {full[0]:,} on" if full else "the queue was never full")


def one_time(source: str) -> Table:
    """Time what a program pays once, stage by stage, with lazy and with eager loading (host clock).

    Two fresh processes for each mode take turns; the table has their means. Raises RuntimeError if one fails.
    """

    def stages(mode: str) -> dict[str, float]:
        variables = os.environ | {"CUDA_MODULE_LOADING": mode}
        return fresh_process.answer(_STAGES, task={"source": source}, environment=variables)

    processes = [{mode: stages(mode) for mode in _MODES} for _ in range(2)]
    rows: list[Row] = []
    for stage in processes[0]["LAZY"]:
        row: Row = {"stage": stage, "clock": "host"}
        for mode in _MODES:
            row[f"{mode}_seconds"] = float(np.mean([each[mode][stage] for each in processes]))
        rows.append(row)
    return Table(
        "one_time", rows, ["stage", "LAZY_seconds", "EAGER_seconds"], "Host clock, means of two fresh processes each."
    )
