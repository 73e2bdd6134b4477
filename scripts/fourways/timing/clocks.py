"""Measure calls: on the GPU's clock, on the host's, as a launch that nobody waits for, as a node of a CUDA graph.

*device*: two CUDA events on the GPU around one call. They lengthen every kernel by nearly the same; `event_overhead`
measures by how much on a small one, and every time by the device clock is without it. On an H200 what is left differs
from CUPTI's times by about 0.1 µs for short kernels, for long ones by less than one percent; lesson 06 measures it.
*host*: `time.perf_counter` around the Python call.

These functions take bare calls, and judge nothing that a call writes. A caller that knows the right answer passes
`Judged.restore` as `before`, and asks `Judged.problem` after the last sample.
"""

import functools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

_BUDGET = 0.3  # seconds of samples aimed at
_KERNELS = r"""
extern "C" __global__ void one(long long *number) { *number = 1; }

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

// Reads `count` packs of zeros. Their sum is never 1, but the compiler does not know that, so it must read them.
extern "C" __global__ void read(const uint4 *zeros, long long count, unsigned *never)
{
    unsigned sum = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (long long)gridDim.x * blockDim.x)
        sum += zeros[i].x + zeros[i].y + zeros[i].z + zeros[i].w;
    if (sum == 1)
        *never = sum;
}
"""

Call = Callable[[], Any]


def _nothing(*_: Any) -> None:
    """Do nothing before or after a sample."""


class Samples(NamedTuple):
    """Seconds of single calls on the GPU, and the clock of its multiprocessors before each of them, in MHz."""

    seconds: list[float]
    mhz: list[float]


def turns(rounds: int, names: Sequence[Any]) -> Iterator[Any]:
    """All of `names` once a round, each round begun by the next of them: a b c, b c a, c a b, a b c."""
    for number in range(rounds):
        first = number % max(1, len(names))
        yield from (*names[first:], *names[:first])


def host_seconds(call: Call, before: Call = _nothing) -> list[float]:
    """Wall-clock seconds of single calls (host clock), after one warm-up call; for calls that return when done.

    `before` runs ahead of each call and is not timed. What the call writes is not judged.
    """
    before()
    call()
    samples: list[float] = []
    while len(samples) < 5 or (sum(samples) < _BUDGET and len(samples) < 200):
        before()
        start = time.perf_counter()
        call()
        samples.append(time.perf_counter() - start)
    return samples


def device_seconds(call: Call, cold: bool = False, before: Call = _nothing) -> list[float]:
    """Seconds of single calls on the GPU (device clock), after warm-up. `cold` and `before` are as for `measure`."""
    return measure([call], cold, before)[0].seconds


def measure(
    calls: Sequence[Call], cold: bool = False, before: Call = _nothing, after: Callable[[int], Any] = _nothing
) -> list[Samples]:
    """Time calls on the current stream of the GPU (device clock), after warm-up; they take turns, sample by sample.

    Before each sample the GPU is kept busy until the host has queued the start event, the call and the stop event.
    Without that, the gap in which the GPU waits for the host would be measured as the kernel's. `cold` also reads twice
    the L2 cache's size before each sample, so that no input is found in the cache, and nothing in it has to be written
    back to make room; what the call itself leaves there is written back after the stop event.
    `before` queues work ahead of each call, outside of the time, and ahead of what `cold` reads. `after(number)` runs
    when the last sample of the call of this number is taken. What the calls write is judged by `after` or by nobody.
    Calls that share their arrays find them as warm as each alone would.
    A sample of hardly anything can be negative: what is subtracted is a median.
    """
    overhead = event_overhead()
    return [
        Samples([sample - overhead for sample in samples.seconds], samples.mhz)
        for samples in _between_events(calls, cold, before, after)
    ]


@functools.cache
def event_overhead() -> float:
    """Seconds by which two events around a kernel lengthen it: around a small one, less what one takes in a graph.

    The small one stores a number, as every kernel of use stores something. Two events around one kernel also hold the
    start of its launch and the wait for its end, which one kernel after another hides. The difference is nearly the
    same for short and long kernels: tests/gpu/test_timing.py holds what is left against CUPTI, lesson 06 shows it.
    """
    import cupy

    number = cupy.empty(1, np.int64)

    def call() -> None:
        _kernel("one")((1,), (1,), (number,))

    alone, graph = (np.median(samples.seconds) for samples in _between_events([call, captured(call, 1000).launch]))
    return float(alone - graph / 1000)


def graph_seconds(call: Call, count: int = 100) -> list[float]:
    """Seconds a call when `count` of them are replayed as a CUDA graph (device clock): launches without the host.

    The call must queue its work on CuPy's current stream; what it queues elsewhere is not in the graph. What the calls
    write is not judged.
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


def launch_seconds(call: Call, synchronize: Call, batches: int = 20) -> list[float]:
    """Host seconds to queue one call (host clock): means over batches of 100 calls that nobody waits for.

    What the calls write is not judged.
    """
    samples, count = [], 100
    for _ in range(1 + batches):
        synchronize()
        start = time.perf_counter()
        for _ in range(count):
            call()
        samples.append((time.perf_counter() - start) / count)
    synchronize()
    return samples[1:]


@functools.cache
def _kernel(name: str) -> Any:
    import cupy

    return cupy.RawModule(code=_KERNELS).get_function(name)


def _between_events(
    calls: Sequence[Call], cold: bool = False, before: Call = _nothing, after: Callable[[int], Any] = _nothing
) -> list[Samples]:
    """Samples by `calls`, the events' overhead in them."""
    import cupy

    delays = [int(2e9 * max(100e-6, 3 * _queued(call, before))) for call in calls]  # cycles; GPUs run at about 2 GHz
    zeros = cupy.zeros(2 * cupy.cuda.Device().attributes["L2CacheSize"] if cold else 0, np.uint8)
    nanoseconds = cupy.empty(1, np.int64)

    def measured(rounds: int, after: Callable[[int], Any] = _nothing) -> list[Samples]:
        samples = [Samples([], []) for _ in calls]
        for which in turns(rounds, range(len(calls))):
            start, stop = cupy.cuda.Event(), cupy.cuda.Event()
            before()
            if cold:
                _kernel("read")((1024,), (256,), (zeros, np.int64(zeros.size // 16), nanoseconds))
            # longer than the host needs for the three lines after it
            _kernel("delay")((1,), (1,), (np.int64(delays[which]), nanoseconds))
            start.record()
            calls[which]()
            stop.record()
            stop.synchronize()  # behind a queue full of samples the events would add more, and not always the same
            samples[which].seconds.append(cupy.cuda.get_elapsed_time(start, stop) * 1e-3)
            samples[which].mhz.append(1e3 * delays[which] / int(nanoseconds.get()[0]))
            if len(samples[which].seconds) == rounds:
                after(which)
        return samples

    # these first rounds also clean what `read` reads: from now on none of it has to be written back
    slowest = max((np.median(samples.seconds[1:]) for samples in measured(5)), default=0.0)
    return measured(int(np.clip(_BUDGET / max(slowest, 1e-9), 20, 200)), after)


def _queued(call: Call, before: Call) -> float:
    """Seconds that the host needs to queue a call, after one that may have to compile or allocate."""
    before()
    call()
    before()
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
