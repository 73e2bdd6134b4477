"""Time the kernel `work` by six clocks: `clocks.py SIZE`. Another kernel: see each CHANGE."""

import json
import random
import subprocess
import sys
import timeit
from pathlib import Path

import cupy as cp
import numpy as np

BY_CUPTI = Path(__file__).parents[1] / "by_cupti.py"  # CHANGE: where you keep it
work, delay = map(
    cp.RawModule(code=Path(__file__).with_name("work.cuh").read_text()).get_function,
    ("work", "delay"),
)
n, moved = int(sys.argv[1]), 4  # CHANGE: the bytes that the kernel moves for each element
# CHANGE: the arrays
rgb = (cp.random.default_rng(1).random((n, 3), cp.float32) * 256).astype(cp.uint8)
grey = cp.zeros(n, cp.uint8)  # CHANGE: not the right answer yet


# CHANGE: if the kernel needs a reset, queue it here; all clocks but CUPTI time it, too
def launch():
    work(((n + 255) // 256,), (256,), (rgb, grey, np.int64(n)))  # CHANGE


def events(call):
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    delay((1,), (1,), (np.int64(2e7),))  # about 10 ms, in which Python queues the rest
    start.record()
    call()
    stop.record()
    assert not start.done, "the delay is too short, or the call waits for the GPU"
    stop.synchronize()
    return cp.cuda.get_elapsed_time(start, stop) * 1e-3


calls, wait = [launch], cp.cuda.Device().synchronize
if __name__ == "__main__":  # by_cupti.py needs only `calls`
    launch()
    # CHANGE: the right answer
    assert (grey == (rgb * cp.array([77, 150, 29], cp.int32)).sum(axis=1) >> 8).all()
    with cp.cuda.Stream(non_blocking=True) as stream:  # a graph of 100 launches
        stream.begin_capture()
        for _ in range(100):
            launch()
        graph = stream.end_capture()
    clocks = {
        "alone": lambda: timeit.timeit(launch, wait, number=1),  # after a wait
        "waited": lambda: timeit.timeit("launch(), wait()", wait, number=1, globals=globals()),
        "events, busy": lambda: events(launch),
        "graph": lambda: events(graph.launch) / 100,
        "twin of graph": lambda: events(graph.launch) / 100,
    }
    samples = {clock: [] for clock in clocks}
    for _ in range(23):
        for clock in random.sample(list(clocks), len(clocks)):
            samples[clock].append(clocks[clock]())
    for kind in ("KERNEL", "CONCURRENT_KERNEL"):  # of CUPTI's records; NaN without cupti-python
        words = [sys.executable, BY_CUPTI, kind, "work", __file__, str(n)]
        (samples[kind],) = json.loads(
            subprocess.run(words, stdout=subprocess.PIPE).stdout or "[[NaN]]"
        )
    for clock, taken in samples.items():
        low, median, high = np.percentile(taken[-20:], (10, 50, 90)) * 1e6
        print(
            f"{n:11,}  {clock:17} {median:8.2f} µs ({low:.2f} to {high:.2f}), "
            f"{moved * n / median / 1e6:7.3f} TB/s"
        )
