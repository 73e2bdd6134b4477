"""What lesson 06 measures: nine clocks and CUPTI, caches, noise, launches in a row, first calls; and made-up machines.

`noise`, `twins`, the made-up machines and the judges of the lesson's exercises need no GPU.
"""

import functools
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fourways import figures, tables, timeline, timing
from fourways.tables import Column, Row, Table, summary
from fourways.ways import is_host

Call = Callable[[], Any]
Timer = Callable[[Call], float]
"""A function that runs a call and returns the seconds of one sample."""
Saxpy = Callable[[Any, Any, Any, Any], Any]
"""A way's function of a, x, y and z."""

_DELAY = """
extern "C" __global__ void delay(long long cycles)
{
    for (const long long start = clock64(); clock64() - start < cycles;)
        ;
}
"""
_ONE = 'extern "C" __global__ void one(float *z) { *z = 1; }'
_CLOCKS = {"waited": "host, waited", "events, busy": "device"}
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
_STAGES = """
import json, sys, time

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
cubin = Program(sys.argv[1], "c++", options).compile("cubin").code
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


def longest() -> int:
    """Return the number of elements of the longest kernel: 2²⁸, or the largest power of two that fits the GPU."""
    return timing.gpu_size(bytes_per_element=12, most=2**28)


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


@functools.cache
def _kernel(source: str, name: str) -> Any:
    import cupy as cp

    return cp.RawKernel(source, name)


def busy() -> None:
    """Keep the GPU busy for about 0.2 ms, so that Python can queue what comes next meanwhile; wait for nothing."""
    _kernel(_DELAY, "delay")((1,), (1,), (np.int64(400_000),))  # at about 2 GHz


class Compared:
    """The samples of every clock for saxpy at several sizes, and how the clocks compare with CUPTI.

    `samples[clock][size]` is a list of seconds; `median[clock][size]` is in seconds, with CUPTI as the last clock.
    `mhz` is the GPU's clock rate before each sample of the longest kernel by `timing.measure`.
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
        roof = timing.copy_row(12 * most)["bytes_per_second"]

        def claim(row: Row) -> float:
            return 12 * most / self.median[row["timer"]][most]

        rows = [
            row | {"bytes_per_second": claim(row), "share": claim(row) / roof}
            for row in self.rows
            if row["timer"] != "CUPTI"
        ]
        columns: list[Column] = [
            "timer",
            "clock",
            ("median", lambda row: tables.seconds(self.median[row["timer"]][most])),
            ("claims", lambda row: tables.rate(row["bytes_per_second"])),
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

        columns: list[Column] = [
            ("elements", lambda row: f"{row['size']:,}"),
            ("CUPTI", lambda row: tables.seconds(row["cupti_seconds"])),
            *map(off, judged),
        ]
        errors = [abs(row["ours_seconds"] - row["cupti_seconds"]) for row in rows if row["cupti_seconds"] < 10e-6]
        worst = tables.seconds(max(errors, default=0.0))
        return Table("judge", rows, columns, f"`ours` is off by at most {worst} for kernels below 10 µs. {self.note}")


def compare(timers: Mapping[str, Timer], saxpy: Saxpy, source: str) -> Compared:
    """Time saxpy at seven sizes by `timers`, CuPy's `benchmark`, a CUDA graph, `timing.device_seconds` and CUPTI.

    The timers and `benchmark` take turns: a slow moment meets them all. `source` is the kernel's text, which CUPTI's
    process compiles by NVRTC. Where CUPTI cannot record, the graph stands in, and the note says so.
    """
    from cupyx.profiler import benchmark

    most = longest()
    sizes = [most >> shift for shift in range(0, most.bit_length() - 10, 3)][::-1]
    names = (*timers, "benchmark cpu", "benchmark gpu", "graph", "ours")
    samples: dict[str, dict[int, list[float]]] = {name: {size: [] for size in sizes} for name in names}
    mhz: list[float] = []
    for size in sizes:
        call = on_gpu(saxpy, size)
        for number in range(_WARM_UP + _ROUNDS):
            taken = {name: timer(call) for name, timer in timers.items()}
            both = benchmark(call, name="saxpy", n_repeat=1, n_warmup=0)
            taken |= {"benchmark cpu": float(both.cpu_times[0]), "benchmark gpu": float(both.gpu_times[0][0])}
            for name, seconds in taken.items() if number >= _WARM_UP else ():
                samples[name][size].append(seconds)
        samples["graph"][size] = timing.graph_seconds(call, 20)
        (measured,) = timing.measure([call])
        samples["ours"][size], mhz = measured.seconds, measured.mhz
    note = ""
    try:
        samples["CUPTI"] = by_cupti(source, sizes)
    except timeline.TimelineError as error:
        samples["CUPTI"], note = samples["graph"], f"{error}; the graph stands in for CUPTI."
    return Compared(samples, mhz, note)


def by_cupti(source: str, sizes: Sequence[int]) -> dict[int, list[float]]:
    """Return CUPTI's seconds of 20 runs of saxpy at each size, in a fresh process. Raises TimelineError."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "program.py")
        path.write_text(_CUPTI)
        rows = timeline.of_program(path, source, str(_CUPTI_RUNS), *map(str, sizes))
    seconds = [row["seconds"] for row in rows if row.get("name") == "saxpy"]
    runs = np.reshape(seconds, (len(sizes), _CUPTI_RUNS))[:, _WARM_UP:]
    return dict(zip(sizes, runs.tolist(), strict=True))


def event_costs(events: Callable[..., float]) -> None:
    """Print what two events on a busy GPU measure: nothing, a kernel that stores one number, and what they add to it.

    `events(call, first=…)` is the lesson's timer; `first` runs before its first event.
    """
    import cupy as cp

    z = cp.empty(1, cp.float32)
    one = functools.partial(_kernel(_ONE, "one"), (1,), (1,), (z,))

    def typical(call: Call) -> float:
        return float(np.median([events(call, first=busy) for _ in range(50)]))

    nothing, around_one = typical(lambda: None), typical(one)
    in_graph = typical(timing.captured(one, 1000).launch) / 1000
    print("two events around nothing:         ", tables.seconds(nothing))
    print("two events around a tiny kernel:   ", tables.seconds(around_one))
    print("the kernel, 1000 times in a graph: ", tables.seconds(in_graph))
    print("so two events add:                 ", tables.seconds(around_one - in_graph))
    print("`ours` subtracts:                  ", tables.seconds(timing.event_overhead()))


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
        row["seconds"] = summary(timing.device_seconds(call))
        row["cold_seconds"] = summary(timing.device_seconds(call, cold=True))
        written = [events(call, first=overwrite) for _ in range(20)]
        row["written_seconds"] = summary(np.subtract(written, timing.event_overhead()).tolist())
        row["ratio"] = row["cold_seconds"]["median"] / row["seconds"]["median"]
        rows.append(row)
    columns: list[Column] = [
        ("elements", lambda row: f"{row['size']:,}"),
        ("all arrays", lambda row: f"{row['bytes'] / 1e6:.1f} MB"),
        ("warm", lambda row: tables.seconds(row["seconds"]["median"])),
        ("cold", lambda row: tables.seconds(row["cold_seconds"]["median"])),
        ("cold / warm", lambda row: f"{row['ratio']:.2f}"),
        ("full of writes", lambda row: tables.seconds(row["written_seconds"]["median"])),
    ]
    return Table("cold_cache", rows, columns, f"Device clock. The L2 cache holds {cache / 1e6:.0f} MB.")


def samplers(
    ways: Mapping[str, Saxpy], alone: Timer, waited: Timer, events: Callable[..., float]
) -> dict[str, Callable[[], float]]:
    """Return functions that take one sample of saxpy, of 2¹⁸ elements, by clock; `ways` are those that can run here.

    `alone`, `waited` and `events` are the lesson's timers. The first way on the GPU stands for all of them.
    """
    size, chosen = 2**18, dict[str, Callable[[], float]]()
    on_the_gpu = [saxpy for way, saxpy in ways.items() if not is_host(way)]
    for saxpy in (saxpy for way, saxpy in ways.items() if is_host(way)):
        x, y = np.random.default_rng(2).random((2, size), dtype=np.float32)
        call = functools.partial(saxpy, np.float32(2.5), x, y, np.zeros_like(x))
        chosen["alone, host way"] = functools.partial(alone, call)
    for saxpy in on_the_gpu[:1]:
        chosen["waited"] = functools.partial(waited, on_gpu(saxpy, size))
        chosen["events, busy"] = functools.partial(events, on_gpu(saxpy, size), first=busy)
    return chosen


def noise(samplers: Mapping[str, Callable[[], float]], count: int = 400) -> Table:
    """Take `count` samples by each sampler, a function that returns seconds, and show how they spread.

    "±, median of n" is half of the distance from p10 to p90 of the median of n samples, as a share of the median: n
    samples are drawn 2,000 times.
    """
    random, rows = np.random.default_rng(6), list[Row]()
    for timer, sample in samplers.items():
        samples = np.array([sample() for _ in range(count)])
        middle = float(np.median(samples))
        row: Row = {"timer": timer, "clock": _CLOCKS.get(timer, "host"), "seconds": summary(samples.tolist())}
        row |= {f"{name}_seconds": float(value) for name, value in _extremes(samples).items()}
        for number in (1, 5, 50):
            medians = np.median(random.choice(samples, (2000, number)), axis=1)
            p10, p90 = np.percentile(medians, [10, 90])
            row[f"spread_{number}"] = float((p90 - p10) / 2 / middle)
        rows.append(row)

    def spread(number: int, words: str) -> Column:
        return words, lambda row: f"{100 * row[f'spread_{number}']:.2f} %"

    spreads = [spread(1, "±, one sample"), spread(5, "±, median of 5"), spread(50, "±, median of 50")]
    shown: list[Column] = [("clock", "timer"), "min_seconds", "seconds", "mean_seconds", "max_seconds", *spreads]
    return Table("noise", rows, shown, f"{count} samples each.")


def _extremes(samples: np.ndarray) -> dict[str, float]:
    return {"min": samples.min(), "mean": samples.mean(), "max": samples.max()}


def twins(samplers: Mapping[str, Callable[[], float]], trials: int = 20, rounds: int = 10) -> Table:
    """Compare a call with itself: by how much the medians of `rounds` samples and of as many more differ, by order.

    A trial takes one sampler's samples as those of two calls: all of the first before all of the second, in turns, or
    in turns of which each begins with a call drawn by lot (seed 1).
    """
    rows: list[Row] = []
    lots = random.Random(1)
    orders: dict[str, Callable[[], list[int]]] = {
        "one after the other": lambda: [0] * rounds + [1] * rounds,
        "in turns": lambda: [0, 1] * rounds,
        "in turns, by lot": lambda: [which for _ in range(rounds) for which in lots.sample((0, 1), 2)],
    }
    for timer, sample in samplers.items():
        differences: dict[str, list[float]] = {name: [] for name in orders}
        for name in timing.turns(trials, list(orders)):
            samples: tuple[list[float], list[float]] = ([], [])
            for which in orders[name]():
                samples[which].append(sample())
            first, second = map(np.median, samples)
            differences[name].append(abs(float(second / first - 1)))
        for name, seen in differences.items():
            row: Row = {"timer": timer, "clock": _CLOCKS.get(timer, "host"), "order": name}
            rows.append(row | {"typical": float(np.median(seen)), "worst": max(seen)})
    columns: list[Column] = [
        ("clock", "timer"),
        "order",
        ("typical difference", lambda row: f"{100 * row['typical']:.2f} %"),
        ("worst", lambda row: f"{100 * row['worst']:.2f} %"),
    ]
    note = f"Two identical calls, medians of {rounds} samples each; {trials} trials."
    return Table("twins", rows, columns, note)


def in_a_row(ways: Mapping[str, Saxpy], waited: Timer, count: int = 200) -> Table:
    """Time `count` launches in a row with one wait at the end (host clock, seconds a call), by way and size.

    `waited` is the lesson's timer. The kernel's own time is that in a CUDA graph of 50 launches through the first way
    whose launches a graph can hold, which is the first of `ways`.
    """
    sizes = [2**power for power in (10, 18, 20, 21, 22, 23, 24) if 2**power <= longest()]
    first, rows = next(iter(ways.values())), list[Row]()
    for size in sizes:
        calls = {way: on_gpu(saxpy, size) for way, saxpy in ways.items()}
        samples: dict[str, list[float]] = {way: [] for way in calls}
        for number, way in enumerate(timing.turns(6, list(calls))):
            seconds = waited(functools.partial(_repeat, calls[way], count)) / count
            if number >= len(calls):  # the first round is warm-up
                samples[way].append(seconds)
        row: Row = {"size": size, "clock": "host"}
        row["kernel_seconds"] = summary(timing.graph_seconds(on_gpu(first, size), 50))
        rows.append(row | {f"{way}_seconds": summary(taken) for way, taken in samples.items()})
    elements: Column = ("elements", lambda row: f"{row['size']:,}")
    columns: list[Column] = [elements, "kernel_seconds", *(f"{way}_seconds" for way in ways)]
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
    kernel = summary(timing.device_seconds(call))["median"]
    means = [float(np.mean(seconds[i : i + 100])) for i in range(0, launches, 100)]
    full = [100 * i for i, mean in enumerate(means) if mean > kernel / 2]
    print(f"the first hundred launches: {tables.seconds(means[0])} each")
    print(f"the last hundred launches:  {tables.seconds(means[-1])} each")
    print(f"the kernel:                 {tables.seconds(kernel)}")
    print(f"launches are slow from number {full[0]:,} on" if full else "the queue was never full")


def one_time(source: str) -> Table:
    """Time what a program pays once, stage by stage, with lazy and with eager loading (host clock).

    Two fresh processes for each mode take turns; the table has their means. Raises CalledProcessError.
    """

    def stages(mode: str) -> dict[str, float]:
        environment = os.environ | {"CUDA_MODULE_LOADING": mode}
        command = [sys.executable, "-c", _STAGES, source]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        return json.loads(done.stdout.splitlines()[-1])

    processes = [{mode: stages(mode) for mode in _MODES} for _ in range(2)]
    rows: list[Row] = []
    for stage in processes[0]["LAZY"]:
        row: Row = {"stage": stage, "clock": "host"}
        for mode in _MODES:
            row[f"{mode}_seconds"] = float(np.mean([process[mode][stage] for process in processes]))
        rows.append(row)
    return Table(
        "one_time", rows, ["stage", "LAZY_seconds", "EAGER_seconds"], "Host clock, means of two fresh processes each."
    )


class Machine:
    """A made-up machine with a clock of its own, in seconds.

    Each call takes `1 + drift` times as long as the call before. `odd[name, number]` is the factor by which the call of
    `name` with this number, from 0, takes longer than usual; below 1 it is faster.
    """

    def __init__(self, drift: float = 0.0, odd: Mapping[tuple[str, int], float] | None = None) -> None:
        self._now, self._drift, self._odd = 0.0, drift, dict(odd or {})
        self.calls: list[str] = []

    def clock(self) -> float:
        """Return the machine's time."""
        return self._now

    def work(self, name: str, seconds: float) -> None:
        """Work for about `seconds`, and note `name` in `calls`."""
        factor = self._odd.get((name, self.calls.count(name)), 1.0)
        self._now += factor * seconds * (1 + self._drift) ** len(self.calls)
        self.calls.append(name)


def _machines(names: Sequence[str], rounds: int) -> Iterator[tuple[str, Machine]]:
    """Yield machines and what they do: of `rounds` calls, the last three slow down at most a fifth and hurry one.

    Each call has slow samples of its own number, so that the order of the calls does not matter.
    """
    random = np.random.default_rng(rounds)
    yield "a steady machine", Machine()
    yield "a machine that slows down", Machine(drift=0.005)
    for always in (0, rounds // 2, rounds - 1):
        odd: dict[tuple[str, int], float] = {}
        for name in names:
            others = random.permutation([number for number in range(rounds) if number != always]).tolist()
            slow = [always, *others[: random.integers(1, rounds // 5)]]
            odd |= {(name, number): random.uniform(5, 20) for number in slow}
            odd[name, others[-1]] = random.uniform(0.3, 0.8)
        yield "a machine that stumbles", Machine(odd=odd)


def check_fair(fair: Any) -> str:
    """Judge `fair(calls, rounds, clock)`: it times each of `calls`, a dictionary of functions, `rounds` times.

    It returns seconds by name. It is tried on made-up machines, with two equal calls and others of random length.
    """
    random = np.random.default_rng(7)
    for rounds in (21, 15):
        names = ("other", "one", "twin", "long")
        for what, machine in _machines(names, rounds):
            costs = dict(zip(names, (*random.uniform(1.1, 3, 3), 0), strict=True))
            costs["twin"], costs["long"] = costs["one"], random.uniform(4, 5)
            calls = {name: functools.partial(machine.work, name, cost) for name, cost in costs.items()}
            times = fair(calls, rounds, machine.clock)
            if not isinstance(times, dict) or set(times) != set(costs):
                return f"Not yet: it returned {times!r}; wanted a dictionary with the names {', '.join(costs)}."
            for name in costs:
                if (called := machine.calls.count(name)) < rounds:
                    return f"Not yet: {name!r} was called {called} of {rounds} times."
            for name, cost in costs.items():
                ratio, right = times[name] / times["one"], cost / costs["one"]
                if not abs(ratio / right - 1) < 0.025:
                    told = "takes as long as" if name == "twin" else f"takes {right:.2f} times as long as"
                    hint = "when was each of them called?" if "slows" in what else "what do a few odd samples do?"
                    return f"Not yet: on {what} {name!r} {told} 'one', and you say {ratio:.2f} times; {hint}"
            if not 0.9 < times["one"] / costs["one"] < 1.6:
                return f"Not yet: on {what} 'one' takes about {costs['one']:.2f} s, and you say {times['one']:.2f} s."
    return "Right: equal calls come out equal, on machines that slow down and machines that stumble."


class MadeUpGpu:
    """A made-up GPU with one stream, and its host; all times are in seconds.

    `launch()` queues the kernel, `delay(seconds)` queues work that takes so long, and `record()` queues an event and
    returns it. These return before the GPU has done the work. `wait()` waits for all of it, `elapsed(start, stop)` does
    so, too, and returns the time between two events. `clock()` is the host's clock.
    The first launch compiles. The kernel's time varies by about 1 %.
    """

    def __init__(self, kernel: float, host: float, event: float, gap: float, seed: int) -> None:
        self._kernel, self._host, self._event, self._gap = kernel, host, event, gap
        self._random = np.random.default_rng(seed)
        self._now = self._free = 0.0
        self._after_a_kernel = False
        self.launches = self.idle = self.events = 0

    def clock(self) -> float:
        """Return the host's time."""
        return self._now

    def launch(self) -> None:
        """Queue the kernel."""
        if not self.launches:
            self._now += 0.05  # it compiles
        self.launches += 1
        self.idle += self._now + self._host > self._free
        begin_and_end = 0.0 if self._after_a_kernel else self._gap
        self._queue(self._host, begin_and_end + self._kernel * self._random.normal(1, 0.01))
        self._after_a_kernel = True

    def delay(self, seconds: float) -> None:
        """Queue work that takes so long."""
        self._queue(self._host, seconds)
        self._after_a_kernel = False

    def record(self) -> float:
        """Queue an event and return it."""
        self.events += 1
        self._queue(self._host / 4, self._event)
        self._after_a_kernel = False
        return self._free

    def wait(self) -> None:
        """Wait until the GPU has done all that was queued."""
        self._now = max(self._now, self._free) + 4e-6

    def elapsed(self, start: float, stop: float) -> float:
        """Wait for the GPU, and return the time from the event `start` to the event `stop`."""
        self.wait()
        return stop - start

    def _queue(self, host: float, device: float) -> None:
        self._now += host
        self._free = max(self._now, self._free) + device


def check_kernel_seconds(kernel_seconds: Any) -> str:
    """Judge `kernel_seconds(gpu)`: the seconds of a made-up GPU's kernel, within 3 %.

    Eight GPUs are tried, each of them five times, because one time may be right by chance.
    """
    random = np.random.default_rng(11)
    for number, kernel in enumerate((2e-6, 40e-6, 1e-6, 0.9e-3, 5e-6, 1.3e-6, 12e-6, 3e-6), 1):
        kernel *= random.uniform(0.9, 1.1)
        host, event, gap = random.uniform((4e-6, 0.5e-6, 0.4e-6), (15e-6, 2.5e-6, 1.2e-6))
        ratios: list[float] = []
        for again in range(5):
            gpu = MadeUpGpu(kernel, host, event, gap, seed=number + 100 * again)
            seconds = kernel_seconds(gpu)
            if not isinstance(seconds, float | np.floating):
                return f"Not yet: it returned {seconds!r}; wanted seconds, a float."
            if not gpu.launches:
                return f"Not yet: {tables.seconds(float(seconds))} for GPU {number}, but its kernel was never launched."
            ratios.append(float(seconds) / kernel)
        if problem := _off(ratios, gpu):
            return f"Not yet: GPU {number}: {problem}."
    return "Right within 3 % on eight made-up GPUs: kernels from 1 µs to 0.9 ms, launches up to 15 µs."


def _off(ratios: Sequence[float], gpu: MadeUpGpu) -> str | None:
    """Return what is wrong with times of one GPU's kernel, as multiples of the right one; `gpu` was timed last."""
    wrong = [ratio for ratio in ratios if not abs(ratio - 1) < 0.03]
    if not wrong:
        return None
    much = f"your time is {wrong[0]:.2f} times the kernel's"
    if not gpu.events:
        return f"{much}; you recorded no event, so this is the host's clock"
    if gpu.idle > 1:
        return f"{much}; at {gpu.idle} of {gpu.launches} launches the GPU had nothing to do"
    if abs(np.mean(ratios) - 1) < 0.02:
        return f"{much}, and right on average; what makes it vary less from one try to the next?"
    return f"{much}; the GPU was always busy, so what else lies between the two events?"
