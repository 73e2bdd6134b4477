"""Timers for calls: by the GPU's clock, by the host's clock, for launches without a wait, for nodes of a CUDA graph.

*device*: two CUDA events on the GPU around one call. The events lengthen every kernel by nearly the same time.
`event_overhead` measures that time on a small kernel, and every device time is reported without it. On an H200 the
result differs from CUPTI's times by about 0.1 µs for short kernels, and by less than one percent for long ones; lesson
06 measures it.
*host*: `time.perf_counter` around the Python call.

These functions time bare calls, and do not check what a call writes. A caller that knows the right answer passes
`Judged.restore` as `before`, and calls `Judged.problem` after the last sample.
"""

import functools
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fourways import lesson

_BUDGET = 0.3  # seconds to spend on samples
_KERNELS = r"""
extern "C" __global__ void one(long long *number) { *number = 1; }

// Keeps the GPU busy for `cycles` cycles of its clock, and writes the nanoseconds that this took.
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
    """The seconds of single calls on the GPU, and the clock of its multiprocessors before each call, in MHz."""

    seconds: list[float]
    mhz: list[float]


def rounds(count: int) -> int:
    """Return how often a lesson repeats a slow measurement, such as a fresh process.

    While a lesson is recorded, that is `count` times. Everywhere else it is about a third of that, an odd number: who
    runs a lesson gets the same medians sooner, with wider ranges.
    """
    return count if os.environ.get(lesson.RECORDS) else count // 3 | 1


def turns(rounds: int, names: Sequence[Any]) -> Iterator[Any]:
    """Yield all of `names` in each round, with another first name in each round: a b c, b c a, c a b, a b c."""
    for number in range(rounds):
        first = number % max(1, len(names))
        yield from (*names[first:], *names[:first])


def sampled(samplers: Mapping[Any, Callable[[], float]], rounds: int, warm_up: int = 0) -> dict[Any, list[float]]:
    """Let samplers take turns, and return the seconds of each by its name, without its first `warm_up` samples."""
    samples: dict[Any, list[float]] = {name: [] for name in samplers}
    for name in turns(rounds, list(samplers)):
        samples[name].append(samplers[name]())
    return {name: taken[warm_up:] for name, taken in samples.items()}


def until_done(call: Call) -> Call:
    """Return a function that makes a call and waits for all work on the GPU, so that the host's clock times both."""
    import cupy

    def called() -> None:
        call()
        cupy.cuda.Device().synchronize()

    return called


def host_seconds(call: Call, before: Call = _nothing, budget: float = _BUDGET) -> list[float]:
    """Return the wall-clock seconds of single calls (host clock), after one warm-up call.

    The calls must return only when their work is done. `before` runs before each call and is not timed. At least five
    calls are timed, and more until they have taken `budget` seconds together.
    """
    before()
    call()
    samples: list[float] = []
    while len(samples) < 5 or (sum(samples) < budget and len(samples) < 200):
        before()
        start = time.perf_counter()
        call()
        samples.append(time.perf_counter() - start)
    return samples


def device_seconds(call: Call, cold: bool = False, before: Call = _nothing) -> list[float]:
    """Return the seconds of single calls on the GPU (device clock), after warm-up; arguments as for `measure`."""
    return measure([call], cold, before)[0].seconds


def measure(
    calls: Sequence[Call], cold: bool = False, before: Call = _nothing, after: Callable[[int], Any] = _nothing
) -> list[Samples]:
    """Time calls on the current stream of the GPU (device clock), after warm-up; they take turns, sample by sample.

    Before each sample a kernel keeps the GPU busy until the host has queued the start event, the call and the stop
    event. Otherwise the GPU's wait for the host would count as the kernel's time. `cold` also reads twice the L2
    cache's size before each sample. Then no input is in the cache, and the call does not have to write back what others
    left there. Its own outputs are written back after the stop event.
    `before` queues work before each call, and before the reads of `cold`; it is not timed. `after(number)` is called
    after the last sample of the call with this number. Only `before` and `after` can check what the calls write.
    Calls that share their arrays find them as warm as each call alone would.
    The sample of a very short call can be negative, because the overhead that is subtracted is a median.
    """
    overhead = event_overhead()
    return [
        Samples([sample - overhead for sample in samples.seconds], samples.mhz)
        for samples in _between_events(calls, cold, before, after)
    ]


@functools.cache
def event_overhead() -> float:
    """Return the seconds by which two events lengthen a kernel: a small kernel between events, less one in a graph.

    The small kernel stores one number. Two events around a kernel also measure the start of its launch and the wait for
    its end, which are hidden when one kernel follows another. The difference is nearly the same for short and long
    kernels: tests/gpu/test_measuring.py compares the corrected times with CUPTI's, and lesson 06 shows them.
    """
    import cupy

    number = cupy.empty(1, np.int64)

    def call() -> None:
        _kernel("one")((1,), (1,), (number,))

    alone, graph = (np.median(samples.seconds) for samples in _between_events([call, captured(call, 1000).launch]))
    return float(alone - graph / 1000)


def graph_seconds(call: Call, count: int = 100) -> list[float]:
    """Return the seconds per call of a CUDA graph of `count` calls (device clock): launches without the host.

    The call must queue its work on CuPy's current stream; work on other streams is not in the graph.
    """
    return [sample / count for sample in device_seconds(captured(call, count).launch)]


def captured(call: Call, count: int = 1) -> Any:
    """Capture `count` calls on a new stream, and return the CUDA graph (`cupy.cuda.Graph`)."""
    import cupy

    call()  # a first call may compile or allocate, which cannot be captured
    with cupy.cuda.Stream(non_blocking=True) as stream:
        stream.begin_capture()
        try:
            for _ in range(count):
                call()
        finally:
            graph = stream.end_capture()
    return graph


def launch_seconds(call: Call, synchronize: Call, batches: int = 20) -> list[float]:
    """Return the host's seconds to queue one call (host clock): means over batches of 100 calls without a wait."""
    samples, count = [], 100
    for _ in range(1 + batches):
        synchronize()
        start = time.perf_counter()
        for _ in range(count):
            call()
        samples.append((time.perf_counter() - start) / count)
    synchronize()
    return samples[1:]


def occupy(seconds: float) -> Any:
    """Occupy one multiprocessor from CuPy's current stream, for `seconds` or, at a low clock, longer.

    Returns the event (`cupy.cuda.Event`) that is done afterwards; waits for nothing.
    """
    import cupy

    _kernel("delay")((1,), (1,), (np.int64(seconds * 2e9), cupy.empty(1, np.int64)))  # GPUs run at about 2 GHz
    return cupy.cuda.get_current_stream().record()


@functools.cache
def _kernel(name: str) -> Any:
    import cupy

    return cupy.RawModule(code=_KERNELS).get_function(name)


def _between_events(
    calls: Sequence[Call], cold: bool = False, before: Call = _nothing, after: Callable[[int], Any] = _nothing
) -> list[Samples]:
    """Time `calls` as `measure` does, and return samples that include the events' overhead."""
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
            # longer than the host needs for the next three lines
            _kernel("delay")((1,), (1,), (np.int64(delays[which]), nanoseconds))
            start.record()
            calls[which]()
            stop.record()
            stop.synchronize()  # in a full queue the events would add more time, which varies
            samples[which].seconds.append(cupy.cuda.get_elapsed_time(start, stop) * 1e-3)
            samples[which].mhz.append(1e3 * delays[which] / int(nanoseconds.get()[0]))
            if len(samples[which].seconds) == rounds:
                after(which)
        return samples

    # these first rounds also clean the memory that `read` reads: none of it is written back from now on
    slowest = max((np.median(samples.seconds[1:]) for samples in measured(5)), default=0.0)
    return measured(int(np.clip(_BUDGET / max(slowest, 1e-9), 20, 200)), after)


def _queued(call: Call, before: Call) -> float:
    """Return the host's seconds to queue a call, after a first call, which may compile or allocate."""
    before()
    call()
    before()
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
