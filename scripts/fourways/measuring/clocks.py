"""What `timing` does not have: a clock for calls that change their inputs or wait for the GPU, and the host's clock.

These functions time bare calls, on CuPy's current stream, and do not check what a call writes.
"""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fourways import timing
from fourways.timing import Call

_BUDGET = 0.3  # seconds to spend on samples


def turns(rounds: int, names: Sequence[Any]) -> Iterator[Any]:
    """Yield all of `names` in each round, in a fresh random order."""
    for _ in range(rounds):
        yield from random.sample(names, len(names))


def until_done(call: Call) -> Call:
    """Return a function that makes a call and waits for all work on the GPU, so that the host's clock times both."""
    import cupy

    def called() -> None:
        call()
        cupy.cuda.Device().synchronize()

    return called


def host_seconds(call: Call, before: Call = lambda: None, budget: float = _BUDGET) -> list[float]:
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


def measure(calls: Sequence[Call], cold: bool = False, before: Call = lambda: None) -> list[list[float]]:
    """Return the seconds of 20 to 200 calls of each of `calls` on the GPU (device clock), which take turns.

    `cold` reads other data of twice the L2 cache's size before each call. `before` queues work before these reads, and
    is not timed. Of a call that waits for the GPU, the time includes the host's part. The sample of a very short call
    can be negative, because what the events add is a median.
    """
    reads = timing.other_reads() if cold else None

    def first() -> None:
        before()
        if reads:
            reads()

    samplers = {number: _between_events(call, first) for number, call in enumerate(calls)}
    slowest = max((sample() for sample in samplers.values()), default=0.0)
    count = int(np.clip(_BUDGET / max(slowest, 1e-9), 20, 200))
    added = timing.events_add()
    return [[sample - added for sample in samples] for samples in timing.in_turns(samplers, count).values()]


def _between_events(call: Call, before: Call) -> Callable[[], float]:
    """Return a sampler of a call, also of one that waits for the GPU."""
    sample = timing.between_events(call, before)
    try:
        sample()
    except ValueError:  # the call waits for the GPU
        return lambda: timing.enclosed(call, before, 100e-6)[0]
    return sample


def device_seconds(call: Call, cold: bool = False, before: Call = lambda: None) -> list[float]:
    """Return the seconds of single calls on the GPU (device clock); arguments as for `measure`."""
    return measure([call], cold, before)[0]


def require_right(calls: Mapping[str, Call], output: Any, is_right: Callable[[], Any]) -> None:
    """Make each call once, with NaN in `output` before, and raise AssertionError unless `is_right()` is true after it.

    `output` is an array of CuPy, or a part of one. The message names the call.
    """
    for name, call in calls.items():
        output.fill(np.nan)
        call()
        assert bool(is_right()), f"{name}: a wrong answer"
