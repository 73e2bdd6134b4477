"""Clocks for work on a GPU: a dictionary of calls in, a table with a row for each call out.

A call is a function without arguments that queues work on CuPy's current stream. Work on other streams is not seen, and
answers are not checked: check them first. In each round the calls take turns in a fresh random order, so that a slow
moment of the machine meets all of them. Each table also has the row `nothing`, a kernel that stores one number: what
takes about as long does too little for this clock.

    x = cupy.ones(2**20, cupy.float32)
    timing.on_gpu({"add": lambda: cupy.add(x, x, out=x), "copy": timing.copy(2 * x.nbytes)}, moved=2 * x.nbytes)

A row has `call`, `clock` ("device" for the GPU's, "host" for Python's) and `seconds`: median, p10, p90, and the number
of samples. To use this file in a project of your own, copy it and `tables.py`. It needs CuPy.
"""

import functools
import random
import time
from collections.abc import Callable, Mapping
from typing import Any

import cupy
import numpy as np

try:
    from fourways import tables
except ImportError:  # a copy in another project, with tables.py beside it
    import tables  # type: ignore[no-redef]

Call = Callable[[], Any]

_KERNELS = r"""
extern "C" __global__ void nothing(int *number) { *number = 1; }

extern "C" __global__ void busy(long long cycles)
{
    for (const long long start = clock64(); clock64() - start < cycles;)
        ;
}
"""


def on_gpu(calls: Mapping[str, Call], rounds: int = 40, moved: int | None = None) -> tables.Table:
    """Time single calls between two events on a busy GPU (device clock), warm: each right after the same call.

    `seconds` is the time between the events, `between_seconds`, without what two events add (`events_add`). For kernels
    shorter than ten times that, `in_graph` is better. If each call moves `moved` bytes, the rows have
    `bytes_per_second`. Raises ValueError for a call that waits for the GPU.
    """
    return _on_gpu(calls, rounds, moved, None, "warm")


def cold(calls: Mapping[str, Call], rounds: int = 40, moved: int | None = None) -> tables.Table:
    """Time single calls like `on_gpu`, but with a cold L2 cache: before each call the GPU reads other data.

    These data are of twice the cache's size. Reads leave nothing that a call would have to write back to memory.
    """
    return _on_gpu(calls, rounds, moved, other_reads(), "cold")


def in_graph(calls: Mapping[str, Call], rounds: int = 20, moved: int | None = None, count: int = 100) -> tables.Table:
    """Time a CUDA graph of `count` calls, and divide by `count` (device clock): the clock for short kernels.

    It includes the pause from a kernel to the next. `moved` is as in `on_gpu`.
    Raises CuPy's CUDARuntimeError for a call that cannot be captured, such as one that waits for the GPU.
    """
    graphs = {name: captured(call, count).launch for name, call in _with_nothing(calls).items()}
    samples = in_turns({name: between_events(launch) for name, launch in graphs.items()}, rounds)
    each = {name: [sample / count for sample in taken] for name, taken in samples.items()}
    return _table("in_graph", "device", each, moved, f"Device clock; {count} calls in a CUDA graph, for each call.")


def waited(calls: Mapping[str, Call], rounds: int = 20) -> tables.Table:
    """Time single calls and the wait for all their work (host clock): what a user of the result waits for."""

    def sampler(call: Call) -> Callable[[], float]:
        def sample() -> float:
            cupy.cuda.Device().synchronize()
            start = time.perf_counter()
            call()
            cupy.cuda.Device().synchronize()
            return time.perf_counter() - start

        return sample

    samples = in_turns({name: sampler(call) for name, call in _with_nothing(calls).items()}, rounds)
    return _table("waited", "host", samples, None, "Host clock; each call and the wait for its work.")


def launches(calls: Mapping[str, Call], rounds: int = 20, count: int = 100) -> tables.Table:
    """Time the host's part of a call, which queues work and does not wait: means of `count` calls (host clock).

    A queue holds about a thousand launches. When it is full, a launch waits for the GPU.
    """
    samples = in_turns({name: launching(call, count) for name, call in _with_nothing(calls).items()}, rounds)
    return _table("launches", "host", samples, None, f"Host clock; means of {count} calls without a wait.")


def copy(moved: int) -> Call:
    """Return a call that copies from device to device and moves `moved` bytes, half of them read and half written.

    Its rate is a roof for kernels that mostly move bytes, if `moved` is many times the L2 cache's size. Time it with
    them, so that they take turns.
    """
    source = cupy.zeros(max(1, moved // 2), cupy.uint8)
    target = cupy.empty_like(source)
    return lambda: target.data.copy_from_device_async(source.data, source.nbytes)


@functools.cache
def events_add() -> float:
    """Return the seconds that two events add to a kernel: a small kernel between events, less the same in a graph.

    Events also measure the start of a launch and the wait for its end. The sum is nearly the same for all kernels, and
    2 to 4 µs on an H200.
    """
    call, count = _nothing(), 1000
    alone, graph = between_events(call), between_events(captured(call, count).launch)
    samples = in_turns({"alone": alone, "graph": graph}, 50)
    return float(np.median(samples["alone"]) - np.median(samples["graph"]) / count)


def between_events(call: Call, before: Call = lambda: None) -> Callable[[], float]:
    """Return a function that makes the call between two events and returns the seconds between them.

    A kernel keeps the GPU busy until the host has queued both events and the call. Otherwise the GPU would wait for the
    host, and the wait would count. If the host was too slow, it tries again with a longer kernel. `before` queues work
    that is not timed. Raises ValueError for a call that waits for the GPU.
    """
    before()
    call()  # a first call may compile
    seconds = 100e-6

    def sample() -> float:
        nonlocal seconds
        while True:
            taken, is_queued = enclosed(call, before, seconds)
            if is_queued:
                return taken
            if seconds > 0.1:
                raise ValueError("a call waits for the GPU, so events around it time the host, too: use `waited`")
            seconds *= 4

    return sample


def enclosed(call: Call, before: Call, seconds: float) -> tuple[float, bool]:
    """Return the seconds between two events around a call, and whether the GPU was busy until all were queued."""
    start, stop = cupy.cuda.Event(), cupy.cuda.Event()
    before()
    busy(seconds)
    start.record()
    call()
    stop.record()
    is_queued = not start.done
    stop.synchronize()
    return float(cupy.cuda.get_elapsed_time(start, stop)) * 1e-3, is_queued


def busy(seconds: float) -> None:
    """Queue a kernel that keeps the current stream busy for about `seconds`, or longer at a low clock."""
    _kernel("busy")((1,), (1,), (np.int64(seconds * 2e9),))  # GPUs run at about 2 GHz


def other_reads() -> Call:
    """Return a call that leaves nothing of other arrays in the L2 cache: it reads twice the cache's size."""
    return cupy.zeros(2 * cupy.cuda.Device().attributes["L2CacheSize"] // 4, cupy.float32).sum


def launching(call: Call, count: int = 100) -> Callable[[], float]:
    """Return a function that makes `count` calls without a wait, and returns the host's seconds for one."""

    def sample() -> float:
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        for _ in range(count):
            call()
        return (time.perf_counter() - start) / count

    return sample


def captured(call: Call, count: int = 1) -> Any:
    """Return a CUDA graph (`cupy.cuda.Graph`) of `count` calls."""
    with cupy.cuda.Stream(non_blocking=True) as stream:
        cupy.cuda.Device().synchronize()
        call()  # a first call may compile or allocate, which cannot be captured
        stream.synchronize()
        stream.begin_capture()
        try:
            for _ in range(count):
                call()
        finally:
            graph = stream.end_capture()
    return graph


def in_turns(samplers: Mapping[Any, Callable[[], float]], rounds: int, warm_up: int = 3) -> dict[Any, list[float]]:
    """Return `rounds` samples of each sampler, taken in a fresh random order each round, after rounds of warm-up."""
    samples: dict[Any, list[float]] = {name: [] for name in samplers}
    for number in range(warm_up + rounds):
        for name in random.sample(list(samplers), len(samplers)):
            sample = samplers[name]()
            if number >= warm_up:
                samples[name].append(sample)
    return samples


def _on_gpu(calls: Mapping[str, Call], rounds: int, moved: int | None, before: Call | None, state: str) -> tables.Table:
    samplers = {name: between_events(call, before or call) for name, call in _with_nothing(calls).items()}
    between = in_turns(samplers, rounds)
    samples = {name: [sample - events_add() for sample in taken] for name, taken in between.items()}
    added = tables.seconds(events_add())
    note = f"Device clock, {state} L2 cache. Two events add {added}, without which the median is."
    table = _table(f"on_gpu_{state}", "device", samples, moved, note)
    for row in table.rows:
        row["between_seconds"] = tables.summary(between[row["call"]])
    table.columns.insert(3, ("between events", lambda row: tables.show("between_seconds", row["between_seconds"])))
    return table


def _table(name: str, clock: str, samples: Mapping[str, list[float]], moved: int | None, note: str) -> tables.Table:
    rows: list[tables.Row] = []
    for call, taken in samples.items():
        row: tables.Row = {"call": call, "clock": clock, "seconds": tables.summary(taken)}
        if moved is not None and call != "nothing":
            row |= {"bytes": moved, "bytes_per_second": moved / max(row["seconds"]["median"], 1e-9)}
        rows.append(row)
    rate: list[tables.Column] = ["bytes_per_second"] if moved is not None else []
    return tables.Table(name, rows, ["call", "seconds", tables.RANGE, *rate], note)


def _with_nothing(calls: Mapping[str, Call]) -> dict[str, Call]:
    return {**calls, "nothing": _nothing()}


def _nothing() -> Call:
    return functools.partial(_kernel("nothing"), (1,), (1,), (cupy.empty(1, cupy.int32),))


@functools.cache
def _kernel(name: str) -> Any:
    return cupy.RawModule(code=_KERNELS).get_function(name)
