"""One timer for every way: warm, with a cold L2 cache, and the cost of a launch.

Two clocks are used, and every figure says which. *device*: CUDA events around one call, on the GPU. *host*:
`time.perf_counter` around the Python call. For a process's first result see `fourways.first_result`.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from fourways import checking, toolchain
from fourways.lesson import Ways
from fourways.tables import Row, Table, rate, seconds, seconds_range

GPU_SIZE = 2**26
"""Elements timed on a GPU: arrays several times larger than any L2 cache, small enough for a 4 GB card."""

HOST_SIZE = 2**22
"""Elements timed on the CPU."""

_BUDGET = 0.3  # seconds of samples aimed at
_DELAY = r"""
extern "C" __global__ void delay(long long cycles)
{
    for (const long long start = clock64(); clock64() - start < cycles;)
        ;
}
"""

Call = Callable[[], Any]


def summary(samples: list[float]) -> dict[str, float]:
    """Median, 10th and 90th percentile, in the samples' unit, and how many samples there were."""
    p10, median, p90 = np.percentile(samples, [10, 50, 90])
    return {"median": float(median), "p10": float(p10), "p90": float(p90), "samples": len(samples)}


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
    """Seconds of single calls on the GPU (device clock: CUDA events on the current stream), after warm-up.

    Before each sample the GPU is kept busy until the host has queued the start event, the call and the stop event.
    Without that, the gap in which the GPU waits for the host would be measured as the kernel's. `cold` also overwrites
    twice the L2 cache's size before each sample, so that no input is found in it.
    """
    import cupy

    call()
    start = time.perf_counter()
    call()
    queued = time.perf_counter() - start
    cycles = np.int64(2e9 * max(100e-6, 3 * queued))  # GPUs run at about 2 GHz
    delay = cupy.RawKernel(_DELAY, "delay")
    scratch = cupy.empty(2 * cupy.cuda.Device().attributes["L2CacheSize"] if cold else 0, np.uint8)

    def sample() -> tuple[Any, Any]:
        start, stop = cupy.cuda.Event(), cupy.cuda.Event()
        scratch.fill(0)
        delay((1,), (1,), (cycles,))  # longer than the host needs for the next three lines
        start.record()
        call()
        stop.record()
        return start, stop

    def measure(count: int) -> list[float]:
        events = [sample() for _ in range(count)]
        cupy.cuda.get_current_stream().synchronize()
        return [cupy.cuda.get_elapsed_time(start, stop) * 1e-3 for start, stop in events]

    estimate = float(np.median(measure(5)[1:]))
    return measure(int(np.clip(_BUDGET / max(estimate, 1e-9), 20, 200)))


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


def traffic(values: tuple) -> int:
    """Bytes that a kernel must move at least: every array, read or written once."""
    return sum(value.nbytes for value in values if getattr(value, "shape", ()))


def time_way(ways: Ways, way: str, size: int) -> Row:
    """Time one way at one size: a row with `seconds` (warm), `cold_seconds`, `launch_seconds` and bytes per second.

    Raises CheckFailure, and times nothing, if the way's answer at this size is wrong.
    """
    function, inputs = ways.functions[way], ways.make_inputs(size)
    expected = ways.reference(*inputs)
    if problem := checking.verdict(function, way, inputs, expected, ways.rtol):
        raise checking.CheckFailure(f"{ways.kernel}_{way}, size {size}: {problem}; a wrong answer is not timed")
    arguments = tuple(checking.place(way, value) for value in (*inputs, np.empty_like(expected)))
    row: Row = {"way": way, "size": size, "bytes": traffic(arguments)}
    if way == "host":
        row |= {"clock": "host", "seconds": summary(host_seconds(lambda: function(*arguments)))}
    else:
        import cupy

        small_inputs = ways.make_inputs(1)
        small = [checking.place(way, value) for value in (*small_inputs, np.empty_like(ways.reference(*small_inputs)))]
        row |= {
            "clock": "device",
            "seconds": summary(device_seconds(lambda: function(*arguments))),
            "cold_seconds": summary(device_seconds(lambda: function(*arguments), cold=True)),
            "launch_seconds": summary(
                launch_seconds(lambda: function(*small), cupy.cuda.get_current_stream().synchronize)
            ),
        }
    return row | {"bytes_per_second": row["bytes"] / row["seconds"]["median"]}


def copy_row(size_bytes: int) -> Row:
    """The device-to-device copy that moves `size_bytes` (read and written together): the roof for such kernels."""
    import cupy

    source = cupy.zeros(size_bytes // 2, np.uint8)
    target = cupy.empty_like(source)
    samples = summary(device_seconds(lambda: target.data.copy_from_device_async(source.data, source.nbytes)))
    row = {"way": "device copy", "clock": "device", "bytes": 2 * source.nbytes, "seconds": samples}
    return row | {"bytes_per_second": row["bytes"] / samples["median"]}


def compare(ways: Ways, size: int | None = None) -> Table:
    """Time every way that can run here, and on a GPU the device-to-device copy of the same bytes.

    `size` in elements; by default GPU_SIZE on a GPU and HOST_SIZE on the CPU.
    """
    rows = [time_way(ways, way, size or (HOST_SIZE if way == "host" else GPU_SIZE)) for way in ways.runnable]
    if not toolchain.missing("gpu"):
        rows.append(copy_row(max(row["bytes"] for row in rows)))

    def clock(key: str) -> Callable[[Row], str]:
        return lambda row: seconds(row[key]["median"]) if key in row else ""

    columns = [
        ("way", lambda row: row["way"]),
        ("elements", lambda row: f"{row['size']:,}" if "size" in row else ""),
        ("clock", lambda row: row["clock"]),
        ("warm median", clock("seconds")),
        ("p10 to p90", lambda row: seconds_range(row["seconds"]["p10"], row["seconds"]["p90"])),
        ("cold L2", clock("cold_seconds")),
        ("bytes/s", lambda row: rate(row["bytes_per_second"])),
        ("launch (host)", clock("launch_seconds")),
    ]
    skipped = "; ".join(f"{way}: {reason}" for way, reason in ways.missing.items())
    return Table("timing", rows, columns, f"Not timed: {skipped}" if skipped else "")
