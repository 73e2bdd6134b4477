"""Measure one call: on the GPU's clock, on the host's, as a launch that nobody waits for, as a node of a CUDA graph.

*device*: two CUDA events on the GPU around one call. They lengthen every kernel by nearly the same; `event_overhead`
measures by how much on an empty one, and every time by the device clock is without it.
*host*: `time.perf_counter` around the Python call.
"""

import functools
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

_BUDGET = 0.3  # seconds of samples aimed at
_KERNELS = r"""
extern "C" __global__ void empty() {}

// Keeps the GPU busy for so many cycles of its clock, and says how many nanoseconds that took.
extern "C" __global__ void delay(long long cycles, long long *nanoseconds)
{
    long long begin, end;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    for (const long long start = clock64(); clock64() - start < cycles;)
        ;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(end));
    *nanoseconds = end - begin;
}
"""

Call = Callable[[], Any]


class Samples(NamedTuple):
    """Seconds of single calls on the GPU, and the clock of its multiprocessors before each of them, in MHz."""

    seconds: list[float]
    mhz: list[float]


def host_seconds(call: Call) -> list[float]:
    """Wall-clock seconds of single calls (host clock), after one warm-up call; for calls that return when done."""
    call()
    samples: list[float] = []
    while len(samples) < 5 or (sum(samples) < _BUDGET and len(samples) < 200):
        start = time.perf_counter()
        call()
        samples.append(time.perf_counter() - start)
    return samples


def device_seconds(call: Call, cold: bool = False) -> list[float]:
    """Seconds of single calls on the GPU (device clock), after warm-up. For `cold`, and the clock's, see `measure`."""
    return measure(call, cold).seconds


def measure(call: Call, cold: bool = False) -> Samples:
    """Time single calls on the current stream of the GPU (device clock), after warm-up.

    Before each sample the GPU is kept busy until the host has queued the start event, the call and the stop event.
    Without that, the gap in which the GPU waits for the host would be measured as the kernel's. `cold` also overwrites
    twice the L2 cache's size before each sample, so that no input is found in it. That what was written there must go
    back to DRAM is part of a cold sample.
    """
    seconds, mhz = _between_events(call, cold)
    overhead = event_overhead()
    return Samples([max(0.0, sample - overhead) for sample in seconds], mhz)


@functools.cache
def event_overhead() -> float:
    """Seconds by which two events around a kernel lengthen it: around an empty one, less what one takes in a graph.

    Two events around one kernel also hold the start of its launch and the wait for its end, which one kernel after
    another hides. The difference is nearly the same for short and long kernels, as tests/gpu/test_timing.py checks.
    """
    empty = _kernel("empty")

    def call() -> None:
        empty((1,), (1,), ())

    alone = float(np.median(_between_events(call)[0]))
    return max(0.0, alone - float(np.median(_between_events(captured(call, 1000).launch)[0])) / 1000)


def graph_seconds(call: Call, count: int = 100) -> list[float]:
    """Seconds a call when `count` of them are replayed as a CUDA graph (device clock): launches without the host.

    The call must queue its work on CuPy's current stream; what it queues elsewhere is not in the graph.
    """
    return [sample / count for sample in device_seconds(captured(call, count).launch)]


def captured(call: Call, count: int = 1) -> Any:
    """A CUDA graph (`cupy.cuda.Graph`) of `count` calls, captured on a stream of its own."""
    import cupy

    call()  # what a first call compiles or allocates cannot be captured
    with cupy.cuda.Stream(non_blocking=True) as stream:
        stream.begin_capture()
        try:
            for _ in range(count):
                call()
        finally:
            graph = stream.end_capture()
    return graph


def launch_seconds(call: Call, synchronize: Call) -> list[float]:
    """Host seconds to queue one call (host clock): means over batches of 100 calls that nobody waits for."""
    samples, batch = [], 100
    for _ in range(21):
        synchronize()
        start = time.perf_counter()
        for _ in range(batch):
            call()
        samples.append((time.perf_counter() - start) / batch)
    synchronize()
    return samples[1:]


@functools.cache
def _kernel(name: str) -> Any:
    import cupy

    return cupy.RawModule(code=_KERNELS).get_function(name)


def _between_events(call: Call, cold: bool = False) -> Samples:
    import cupy

    call()
    start = time.perf_counter()
    call()
    queued = time.perf_counter() - start
    cycles = int(2e9 * max(100e-6, 3 * queued))  # GPUs run at about 2 GHz
    delay = _kernel("delay")
    scratch = cupy.empty(2 * cupy.cuda.Device().attributes["L2CacheSize"] if cold else 0, np.uint8)

    def measured(count: int) -> Samples:
        nanoseconds = cupy.empty(count, np.int64)
        events = []
        for number in range(count):
            start, stop = cupy.cuda.Event(), cupy.cuda.Event()
            scratch.fill(0)
            delay((1,), (1,), (np.int64(cycles), nanoseconds[number:]))  # longer than the host needs for three lines
            start.record()
            call()
            stop.record()
            events.append((start, stop))
        cupy.cuda.get_current_stream().synchronize()
        seconds = [cupy.cuda.get_elapsed_time(start, stop) * 1e-3 for start, stop in events]
        return Samples(seconds, [1e3 * cycles / value for value in nanoseconds.get().tolist()])

    estimate = float(np.median(measured(5).seconds[1:]))
    return measured(int(np.clip(_BUDGET / max(estimate, 1e-9), 20, 200)))
