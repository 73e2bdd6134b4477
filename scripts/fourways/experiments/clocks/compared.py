"""Clocks compared with CUPTI, and what events add to a kernel's time."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fourways import figures, measuring, tables, timeline
from fourways.experiments.clocks.launches import Call, Saxpy, Timer, busy, graph_seconds, longest, on_gpu
from fourways.tables import Column, Row, Table, summary

_HOST_TIMERS = ("alone", "waited", "benchmark cpu")
_ROUNDS, _WARM_UP = 30, 3
_CUPTI_RUNS = 23  # three of them are warm-up
_CUPTI = """
import sys
import cupy as cp, numpy as np

kernel = cp.RawModule(code=sys.argv[1]).get_function("saxpy")
runs, sizes = int(sys.argv[2]), [int(size) for size in sys.argv[3:]]
x, y = cp.full(sizes[-1], 1 / 3, cp.float32), cp.ones(sizes[-1], cp.float32)
z = cp.empty_like(x)
for size in sizes:
    blocks, arguments = (size + 1023) // 1024, (np.float32(2.5), x, y, z, np.int64(size))
    for _ in range(runs):
        kernel((blocks,), (256,), arguments)
cp.cuda.Device().synchronize()
"""
_RATE = r"""
extern "C" __global__ void rate(long long cycles, long long *nanoseconds)
{
    long long begin, end;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    for (const long long start = clock64(); clock64() - start < cycles;)
        ;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(end));
    *nanoseconds = end - begin;
}
"""
_ONE = 'extern "C" __global__ void one(float *z) { *z = 1; }'


class Compared:
    """The samples of every clock for saxpy at several sizes, and how the clocks compare with CUPTI.

    `samples[clock][size]` is a list of seconds; `median[clock][size]` is in seconds, with CUPTI as the last clock.
    `mhz` is the GPU's clock rate after calls of the longest kernel.
    """

    def __init__(
        self, samples: Mapping[str, Mapping[int, Sequence[float]]], mhz: Sequence[float], note: str = ""
    ) -> None:
        self.samples, self.mhz, self.note = samples, mhz, note
        self.median = {
            name: {size: float(np.median(taken)) for size, taken in by_size.items()}
            for name, by_size in samples.items()
        }
        self.sizes = sorted(self.median["CUPTI"])
        self.rows: list[Row] = [
            {
                "timer": name,
                "clock": "host" if name in _HOST_TIMERS else "device",
                "seconds": {str(size): summary(by_size[size]) for size in self.sizes},
            }
            for name, by_size in samples.items()
        ]

    def claims(self) -> Table:
        """Show the medians for the longest kernel, with the rate that each claims for the memory."""
        most = self.sizes[-1]
        roof = measuring.copy_row(12 * most)["bytes_per_second"]
        rows: list[Row] = []
        for row in self.rows[:-1]:  # without CUPTI
            rate = 12 * most / self.median[row["timer"]][most]
            rows.append(row | {"bytes_per_second": rate, "share": rate / roof})
        columns: list[Column] = [
            "timer",
            "clock",
            ("median", lambda row: tables.seconds(self.median[row["timer"]][most])),
            ("claims", "bytes_per_second"),
            ("times the copy", lambda row: f"{row['share']:.2f}"),
        ]
        rates = f"{min(self.mhz):.0f} to {max(self.mhz):.0f} MHz" if self.mhz else "unknown"
        return Table("claims", rows, columns, f"{most:,} elements. The GPU's clock rate: {rates}.")

    def shorter(self) -> Table:
        """Show the medians for shorter kernels, CUPTI's among them."""
        few = [self.sizes[0], self.sizes[len(self.sizes) // 2], self.sizes[-1]]

        def at(size: int) -> Column:
            return f"2^{size.bit_length() - 1} elements", lambda row: tables.seconds(self.median[row["timer"]][size])

        return Table("clocks", self.rows, ["timer", *map(at, few)], self.note)

    def figure(self) -> Any:
        """Draw five of the clocks, as multiples of CUPTI's time, against the elements."""
        shown = ("waited", "events", "alone", "events, busy", "ours", "CUPTI")
        ratios = {
            name: [(size, self.median[name][size] / self.median["CUPTI"][size]) for size in self.sizes]
            for name in shown
        }
        title = "Five clocks, as multiples of CUPTI's time"
        return figures.lines(ratios, "elements", "times CUPTI", "{:.2g}".format, title, roof="CUPTI")

    def judge(self) -> Table:
        """Show three clocks as differences from CUPTI, at all sizes."""
        judged = ("events, busy", "graph", "ours")
        rows: list[Row] = [
            {"size": size, "clock": "device", "cupti_seconds": self.median["CUPTI"][size]}
            | {f"{name}_seconds": self.median[name][size] for name in judged}
            for size in self.sizes
        ]

        def off(name: str) -> Column:
            return name, lambda row: f"{(row[f'{name}_seconds'] - row['cupti_seconds']) * 1e6:+.2f} µs"

        columns: list[Column] = [("elements", "size"), ("CUPTI", "cupti_seconds"), *map(off, judged)]
        errors = [abs(row["ours_seconds"] - row["cupti_seconds"]) for row in rows if row["cupti_seconds"] < 10e-6]
        worst = tables.seconds(max(errors, default=0.0))
        return Table("judge", rows, columns, f"`ours` is off by at most {worst} for kernels below 10 µs. {self.note}")


def compare(timers: Mapping[str, Timer], saxpy: Saxpy, source: str) -> Compared:
    """Time saxpy at seven sizes by `timers`, CuPy's `benchmark`, a CUDA graph, `measuring.device_seconds` and CUPTI.

    The timers and `benchmark` take turns: a slow moment meets them all. `source` is the kernel's text, which CUPTI's
    process compiles by NVRTC. Where CUPTI cannot record, the graph stands in, and the note says so.
    """
    from cupyx.profiler import benchmark

    most = longest()
    sizes = [most >> shift for shift in range(0, most.bit_length() - 10, 3)][::-1]
    names = (*timers, "benchmark cpu", "benchmark gpu", "graph", "ours")
    samples: dict[str, dict[int, list[float]]] = {name: {size: [] for size in sizes} for name in names}
    for size in sizes:
        call = on_gpu(saxpy, size)
        for number in range(_WARM_UP + _ROUNDS):
            taken = {name: timer(call) for name, timer in timers.items()}
            both = benchmark(call, name="saxpy", n_repeat=1, n_warmup=0)
            taken |= {"benchmark cpu": float(both.cpu_times[0]), "benchmark gpu": float(both.gpu_times[0][0])}
            for name, seconds in taken.items() if number >= _WARM_UP else ():
                samples[name][size].append(seconds)
        samples["graph"][size] = graph_seconds(call, 20)
        samples["ours"][size] = measuring.device_seconds(call)
    mhz = rates(on_gpu(saxpy, most))
    note = ""
    try:
        samples["CUPTI"] = by_cupti(source, sizes)
    except timeline.TimelineError as error:
        samples["CUPTI"], note = samples["graph"], f"{error}; the graph stands in for CUPTI."
    return Compared(samples, mhz, note)


def rates(call: Call, count: int = 20, cycles: int = 400_000) -> list[float]:
    """Return the clock rate of the GPU's multiprocessors in MHz, `count` times, each time right after a call."""
    import cupy as cp

    kernel, nanoseconds = cp.RawKernel(_RATE, "rate"), cp.empty(1, np.int64)
    found = []
    for _ in range(count):
        call()
        kernel((1,), (1,), (np.int64(cycles), nanoseconds))
        found.append(1e3 * cycles / int(nanoseconds.get()[0]))
    return found


def by_cupti(source: str, sizes: Sequence[int]) -> dict[int, list[float]]:
    """Return CUPTI's seconds of 20 runs of saxpy at each size, in a fresh process. Raises TimelineError."""
    rows = timeline.record(_CUPTI, source, str(_CUPTI_RUNS), *map(str, sizes))
    seconds = [row["seconds"] for row in rows if row.get("name") == "saxpy"]
    runs = np.reshape(seconds, (len(sizes), _CUPTI_RUNS))[:, _WARM_UP:]
    return dict(zip(sizes, runs.tolist(), strict=True))


def event_costs(events: Callable[..., float]) -> None:
    """Print what two events on a busy GPU measure: nothing, a kernel that stores one number, and what they add to it.

    `events(call, first=…)` is the lesson's timer; `first` runs before its first event.
    """
    import cupy as cp

    from fourways import timing

    z = cp.empty(1, cp.float32)
    one = functools.partial(cp.RawKernel(_ONE, "one"), (1,), (1,), (z,))

    def typical(call: Call) -> float:
        return float(np.median([events(call, first=busy) for _ in range(50)]))

    nothing, around_one = typical(lambda: None), typical(one)
    in_graph = typical(timing.captured(one, 1000).launch) / 1000
    print("two events around nothing:         ", tables.seconds(nothing))
    print("two events around a tiny kernel:   ", tables.seconds(around_one))
    print("the kernel, 1000 times in a graph: ", tables.seconds(in_graph))
    print("so two events add:                 ", tables.seconds(around_one - in_graph))
    print("`ours` subtracts:                  ", tables.seconds(timing.events_add()))
