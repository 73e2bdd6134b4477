"""A histogram by six clocks, at two sizes: each call needs a reset. For another kernel, change what says CHANGE."""

import random
import timeit
from functools import partial

import cupy as cp
import numpy as np

SOURCE = r"""
extern "C" __global__ void work(const unsigned char *x, int *bins, long long n) // CHANGE the kernel
{ const long long i = blockIdx.x * 256LL + threadIdx.x; if (i < n) atomicAdd(bins + x[i], 1); }
extern "C" __global__ void nothing() {}
extern "C" __global__ void delay(long long n) { for (const long long start = clock64(); clock64() - start < n;); }
"""
work, nothing, delay = map(cp.RawModule(code=SOURCE).get_function, ("work", "nothing", "delay"))
x, bins = cp.arange(2**26, dtype=cp.uint32).astype(cp.uint8), cp.empty(256, cp.int32)  # CHANGE the arrays
reset = partial(bins.fill, 0)  # CHANGE what a call needs before its launch; it must queue something
wait, reads = cp.cuda.Device().synchronize, cp.zeros(2**26, cp.float32).sum  # 256 MiB, for a cold cache
python = partial(timeit.timeit, setup=lambda: (reset(), wait()), number=1)


def events(call, before=reset, seconds=0.2e-3):
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    before(), delay((1,), (1,), (np.int64(seconds * 2e9),))  # keeps the GPU busy until all is queued …
    start.record(), call(), stop.record()
    late = start.done and seconds < 0.1  # … or not: try again
    stop.synchronize()
    return events(call, before, 4 * seconds) if late else cp.cuda.get_elapsed_time(start, stop) / 1e3


def graph(call):
    with cp.cuda.Stream(non_blocking=True) as stream:
        call(), wait(), stream.begin_capture()
        _ = [call() for _ in range(100)]
        return stream.end_capture().launch


def medians(clocks):
    taken = [(clock, clocks[clock]()) for _ in range(23) for clock in random.sample(list(clocks), len(clocks))]
    return {each: float(np.median([seconds for clock, seconds in taken if clock == each][3:])) for each in clocks}


empty = partial(nothing, (1,), (1,), ())
one, empties, resets = medians({each: partial(events, each) for each in (empty, graph(empty), graph(reset))}).values()
added = one - empties / 100
print(f"two events add {added * 1e6:.2f} µs, and a reset in a graph takes {resets * 1e4:.2f} µs")
for n in (2**12, 2**26):
    call = partial(work, (n // 256,), (256,), (x, bins, np.int64(n)))  # CHANGE the launch
    both = graph(lambda call=call: (reset(), call()))
    both()
    assert (bins == cp.bincount(x[:n], minlength=256)).all()  # CHANGE the right answer
    clocks = {"alone": partial(python, call), "waited": partial(python, lambda call=call: (call(), wait()))}
    clocks |= {"events": partial(events, call), "twin": partial(events, call), "graph": partial(events, both)}
    clocks |= {"cold": partial(events, call, lambda: (reset(), reads()))}
    for clock, seconds in medians(clocks).items():
        less = {"alone": 0, "waited": 0, "graph": resets}.get(clock, added)
        seconds = (seconds - less) / (100 if clock == "graph" else 1)
        print(f"{n:11,}  {clock:6} {seconds * 1e6:9.2f} µs {n / seconds / 1e12:9.3f} TB/s")  # CHANGE bytes
