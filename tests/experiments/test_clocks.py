"""Lesson 06: the judges of its exercises, its made-up machines, and its tables with a GPU that is only pretended."""

import itertools
import json
import random
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fourways import measuring, timeline
from fourways.experiments import clocks
from fourways.experiments.clocks.launches import _arrays

Fair = Callable[[Any, int, Callable[[], float]], Any]


def by_rounds(number: Callable[[list[float]], float]) -> Fair:
    def fair(calls: Any, rounds: int, clock: Callable[[], float]) -> dict[str, float]:
        samples: dict[str, list[float]] = {name: [] for name in calls}
        for name in measuring.turns(rounds, list(calls)):
            start = clock()
            calls[name]()
            samples[name].append(clock() - start)
        return {name: float(number(taken)) for name, taken in samples.items()}

    return fair


MEDIANS = by_rounds(np.median)


def one_after_the_other(calls: Any, rounds: int, clock: Callable[[], float]) -> dict[str, float]:
    return {name: MEDIANS({name: call}, rounds, clock)[name] for name, call in calls.items()}


def in_milliseconds(calls: Any, rounds: int, clock: Callable[[], float]) -> dict[str, float]:
    return {name: 1e3 * seconds for name, seconds in MEDIANS(calls, rounds, clock).items()}


def interquartile_mean(taken: list[float]) -> float:
    cut = len(taken) // 4
    return float(np.mean(sorted(taken)[cut : len(taken) - cut]))


def by_lot(seed: int, number: Callable[[list[float]], float], warm_up: int) -> Fair:
    """Return a comparison that draws each round's order by lot, and does not count the first `warm_up` rounds."""
    lots = random.Random(seed)

    def fair(calls: Any, rounds: int, clock: Callable[[], float]) -> dict[str, float]:
        samples: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(warm_up + rounds):
            for name in lots.sample(list(calls), len(calls)):
                start = clock()
                calls[name]()
                samples[name].append(clock() - start)
        return {name: float(number(taken[warm_up:])) for name, taken in samples.items()}

    return fair


@pytest.mark.parametrize("number", [np.median, interquartile_mean])
def test_robust_numbers_in_turns_are_fair(number: Callable[[list[float]], float]) -> None:
    assert clocks.check_fair(by_rounds(number)).startswith("Right")


@pytest.mark.parametrize("number", [np.median, interquartile_mean])
@pytest.mark.parametrize("warm_up", [0, 2])
def test_turns_by_lot_are_fair_whatever_the_lot(number: Callable[[list[float]], float], warm_up: int) -> None:
    for seed in range(20):
        said = clocks.check_fair(by_lot(seed, number, warm_up))
        assert said.startswith("Right"), (seed, said)


@pytest.mark.parametrize(
    ("fair", "told"),
    [
        (lambda *_: None, "it returned None; wanted a dictionary"),
        (lambda *_: {"one": 1.0}, "wanted a dictionary with the names"),
        (lambda calls, *_: dict.fromkeys(calls, 1.0), "was called 0 of 21 times"),
        (lambda calls, rounds, clock: MEDIANS(calls, 1, clock), "was called 1 of 21 times"),
        (one_after_the_other, "when was each of them called?"),
        (by_rounds(np.mean), "what do a few odd samples do?"),
        (by_rounds(max), "what do a few odd samples do?"),
        (by_rounds(min), "what do a few odd samples do?"),
        (by_rounds(lambda taken: taken[0]), "what do a few odd samples do?"),
        (by_rounds(lambda taken: taken[-1]), "what do a few odd samples do?"),
        (by_rounds(lambda taken: taken[len(taken) // 2]), "what do a few odd samples do?"),
        (by_rounds(lambda taken: float(np.mean(taken[1:]))), "what do a few odd samples do?"),
        (in_milliseconds, "s, and you say"),
        (lambda *given: {name: [1.0] for name in MEDIANS(*given)}, "seconds of 'other', above 0; [1.0] came"),
        (lambda *given: dict.fromkeys(MEDIANS(*given), 10**5000), "seconds of 'other', above 0; inf came"),
        (by_rounds(lambda taken: taken[0] - taken[0]), "seconds of 'other', above 0; 0.0 came"),
    ],
)
def test_unfair_comparisons_are_told_why(fair: Fair, told: str) -> None:
    said = clocks.check_fair(fair)
    assert said.startswith("Not yet: ") and told in said, said


def busy_samples(gpu: clocks.MadeUpGpu, launches: int, delay: float = 1e-3) -> float:
    gpu.delay(delay)
    start = gpu.record()
    for _ in range(launches):
        gpu.launch()
    return gpu.elapsed(start, gpu.record())


def warmed(gpu: clocks.MadeUpGpu) -> clocks.MadeUpGpu:
    gpu.launch()
    gpu.wait()
    return gpu


def by_difference(gpu: clocks.MadeUpGpu) -> float:
    busy_samples(warmed(gpu), 1)
    return (busy_samples(gpu, 11) - busy_samples(gpu, 1)) / 10


def many(gpu: clocks.MadeUpGpu) -> float:
    return busy_samples(warmed(gpu), 2000, delay=0.1) / 2000


def in_32_bits(gpu: clocks.MadeUpGpu) -> np.float32:
    return np.float32(by_difference(gpu))


def median_of_differences(gpu: clocks.MadeUpGpu) -> float:
    warmed(gpu)
    return float(np.median([busy_samples(gpu, 2) - busy_samples(gpu, 1) for _ in range(100)]))


@pytest.mark.parametrize("kernel_seconds", [by_difference, many, in_32_bits, median_of_differences])
def test_a_difference_and_a_long_row_give_the_kernel(kernel_seconds: Callable[[Any], float]) -> None:
    assert clocks.check_kernel_seconds(kernel_seconds).startswith("Right within 3 % on eight")


def by_python(gpu: clocks.MadeUpGpu) -> float:
    start = warmed(gpu).clock()
    gpu.launch()
    gpu.wait()
    return gpu.clock() - start


def less_empty_events(gpu: clocks.MadeUpGpu) -> float:
    return busy_samples(warmed(gpu), 1) - busy_samples(gpu, 0)


def two_less_one(gpu: clocks.MadeUpGpu) -> float:
    """Take one sample of each, which is right by chance more often than not."""
    warmed(gpu)
    return busy_samples(gpu, 2) - busy_samples(gpu, 1)


def one_less_two(gpu: clocks.MadeUpGpu) -> float:
    warmed(gpu)
    return -busy_samples(gpu, 1) + busy_samples(gpu, 2)


def with_the_compilation(gpu: clocks.MadeUpGpu) -> float:
    return (busy_samples(gpu, 11) - busy_samples(gpu, 1)) / 10


@pytest.mark.parametrize(
    ("kernel_seconds", "told"),
    [
        (lambda _: None, "wanted seconds"),
        (lambda _: 1e-6, "never launched"),
        (by_python, "no event"),
        (lambda gpu: busy_samples(warmed(gpu), 1, delay=0), "the GPU had nothing to do"),
        (lambda gpu: busy_samples(warmed(gpu), 1), "what else lies between the two events?"),
        (less_empty_events, "what else lies between the two events?"),
        (two_less_one, "right on average; what makes it vary less"),
        (one_less_two, "right on average; what makes it vary less"),
        (with_the_compilation, "times the kernel's"),
    ],
)
def test_wrong_clocks_are_told_why(kernel_seconds: Callable[[Any], Any], told: str) -> None:
    said = clocks.check_kernel_seconds(kernel_seconds)
    assert said.startswith("Not yet: ") and told in said, said


def test_a_made_up_gpu_runs_in_order_beside_python() -> None:
    gpu = warmed(clocks.MadeUpGpu(kernel=1e-3, host=10e-6, event=2e-6, gap=1e-6, seed=1))
    start = gpu.clock()
    gpu.launch()
    assert gpu.clock() - start == pytest.approx(10e-6), "a launch only queues"
    gpu.wait()
    assert gpu.clock() - start == pytest.approx(1e-3, rel=0.1)
    assert gpu.elapsed(gpu.record(), gpu.record()) >= 2e-6, "events take time, too"


def test_noise_shows_that_a_median_ignores_slow_samples() -> None:
    numbers = iter(np.tile([1.0, 1.0, 1.0, 9.0], 100))
    (row,) = clocks.noise({"clock": lambda: float(next(numbers))}).rows
    assert (row["min_seconds"], row["seconds"]["median"], row["mean_seconds"], row["max_seconds"]) == (1, 1, 3, 9)
    assert row["spread_1"] == 4 and row["spread_50"] == 0


def test_twins_that_slow_down_differ_less_in_turns() -> None:
    machine = clocks.Machine(drift=0.005)

    def sample() -> float:
        start = machine.clock()
        machine.work("twin", 1.0)
        return machine.clock() - start

    apart, in_turns, by_lot = clocks.twins({"clock": sample}, trials=3).rows
    assert apart["typical"] == pytest.approx(1.005**10 - 1) and in_turns["typical"] == pytest.approx(0.005)
    assert by_lot["typical"] < 0.005


def test_twins_by_lot_share_slow_samples_that_return() -> None:
    """If every fourth sample is slow, strict turns give all of them to one twin."""
    numbers = itertools.cycle([1.0, 1.0, 1.0, 9.0])
    apart, in_turns, by_lot = clocks.twins({"clock": lambda: next(numbers)}).rows
    assert apart["worst"] == 0 and in_turns["typical"] == 4 and by_lot["typical"] == 0


def samples_of(name: str, size: int) -> list[float]:
    """What a made-up clock says: 1 µs and 2 ps an element, with something on top."""
    added = {"alone": 7e-6, "waited": 10e-6, "events": 7e-6, "events, busy": 2e-6, "ours": 0.1e-6}
    kernel = 0 if name == "alone" else 1e-6 + 2e-12 * size
    return [kernel + added.get(name, 0.0)] * 3


def test_the_tables_of_the_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "copy_row", lambda _: {"bytes_per_second": 4e12})
    names = ("alone", "waited", "events", "events, busy", "graph", "ours", "CUPTI")
    sizes = (2**10, 2**19, 2**28)
    compared = clocks.Compared({name: {size: samples_of(name, size) for size in sizes} for name in names}, [1980.0])
    claims = compared.claims()
    assert "1980 to 1980 MHz" in str(claims) and "CUPTI" not in str(claims)
    assert claims.rows[0]["bytes_per_second"] == pytest.approx(12 * 2**28 / 7e-6)
    assert [row[0] for row in compared.shorter().cells()] == list(names)
    assert "off by at most 100 ns" in str(compared.judge())
    assert compared.judge().cells()[0] == ["1,024", "1.00 µs", "+2.00 µs", "+0.00 µs", "+0.10 µs"]
    assert len(compared.figure().axes[0].lines) == 6


class Pretended:
    """What the module asks of CuPy, with NumPy's arrays; launches cost nothing."""

    def __init__(self) -> None:
        self.full, self.ones, self.empty, self.empty_like = np.full, np.ones, np.empty, np.empty_like
        self.float32, self.uint8 = np.float32, np.uint8
        device = SimpleNamespace(attributes={"L2CacheSize": 1000}, synchronize=lambda: None)
        self.cuda = SimpleNamespace(Device=lambda: device)
        self.launches = 0

    def RawKernel(self, text: str, name: str) -> Callable[..., None]:
        assert f"void {name}(" in text

        def launch(grid: tuple, block: tuple, arguments: tuple) -> None:
            self.launches += 1

        return launch


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> Pretended:
    cupy = Pretended()
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(measuring, "gpu_size", lambda bytes_per_element, most: 2**16)
    monkeypatch.setattr(measuring, "occupy", lambda seconds: None)
    _arrays.cache_clear()
    monkeypatch.setattr(
        measuring, "measure", lambda calls: [SimpleNamespace(seconds=[2e-6], mhz=[1980.0])] * len(calls)
    )
    monkeypatch.setattr(measuring, "device_seconds", lambda call, cold=False: [2e-6 if cold else 1e-6])
    monkeypatch.setattr(measuring, "graph_seconds", lambda call, count: [1e-6])
    monkeypatch.setattr(measuring, "event_overhead", lambda: 2e-6)
    monkeypatch.setattr(measuring, "captured", lambda call, count: SimpleNamespace(launch=call))
    yield cupy
    _arrays.cache_clear()


def timer(call: Callable[[], Any], **_: Any) -> float:
    call()
    return 3e-6


def test_the_clocks_take_turns_and_the_graph_stands_in_for_cupti(
    pretended: Pretended, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = SimpleNamespace(cpu_times=np.array([4e-6]), gpu_times=np.array([[5e-6]]))
    profiler = SimpleNamespace(benchmark=lambda call, name, n_repeat, n_warmup: both)
    monkeypatch.setitem(sys.modules, "cupyx", SimpleNamespace(profiler=profiler))
    monkeypatch.setitem(sys.modules, "cupyx.profiler", profiler)

    def refused(*_: Any) -> None:
        raise timeline.TimelineError("no CUPTI")

    monkeypatch.setattr(timeline, "of_program", refused)
    sizes: list[int] = []
    compared = clocks.compare({"alone": timer}, lambda a, x, y, z: sizes.append(x.size), "text")
    assert compared.sizes == [2**10, 2**13, 2**16] and set(sizes) == set(compared.sizes)
    assert len(compared.samples["alone"][2**10]) == 30 and compared.median["benchmark gpu"][2**16] == 5e-6
    assert compared.mhz == [1980.0] and "the graph stands in" in str(compared.shorter())
    ran: list[tuple] = []

    def of_program(*program: str) -> list[dict[str, Any]]:
        ran.append(program)
        other = {"name": "fill", "seconds": 9.0}
        return [other, *({"name": "saxpy", "seconds": float(number)} for number in range(46))]

    monkeypatch.setattr(timeline, "of_program", of_program)
    assert clocks.by_cupti("text", [4, 8]) == {4: [*range(3, 23)], 8: [*range(26, 46)]}
    assert ran[0][1:] == ("text", "23", "4", "8")
    compile(ran[0][0], "program", "exec")


def test_the_other_experiments_on_a_pretended_gpu(pretended: Pretended, capsys: pytest.CaptureFixture) -> None:
    clocks.event_costs(timer)
    assert "so two events add:                  3.00 µs" in capsys.readouterr().out
    clocks.first_call("void saxpy(", timer)
    assert "mean of all ten: 3.00 µs, 1 times a later call" in capsys.readouterr().out
    launched: list[int] = []
    ways = {"nvrtc": lambda a, x, y, z: launched.append(x.size), "pycuda": lambda a, x, y, z: None}
    cold = clocks.warm_and_cold(ways["nvrtc"], timer)
    assert [row["size"] for row in cold.rows] == [2**16] and "2.00" in str(cold)
    row_table = clocks.in_a_row(ways, timer, count=7)
    assert [row["size"] for row in row_table.rows] == [2**10]
    assert row_table.rows[0]["pycuda_seconds"]["samples"] == 5 and launched.count(2**10) == 6 * 7
    clocks.full_queue(ways["nvrtc"], timer, launches=200)
    assert "launches are slow from number 0 on" in capsys.readouterr().out
    chosen = clocks.samplers(ways | {"host": timer_of_four}, timer, timer, timer)
    assert list(chosen) == ["alone, host way", "waited", "events, busy"]
    assert [sample() for sample in chosen.values()] == [3e-6] * 3


def timer_of_four(a: Any, x: Any, y: Any, z: Any) -> None:
    assert x.size == 2**18


def test_what_a_program_pays_once(monkeypatch: pytest.MonkeyPatch) -> None:
    modes: list[str] = []

    def run(command: list[str], env: dict[str, str], **_: Any) -> Any:
        compile(command[-1], "program", "exec")
        modes.append(env["CUDA_MODULE_LOADING"])
        told = "warning\n" + json.dumps({"import": float(len(modes)), "context": 0.5})
        return subprocess.CompletedProcess(command, 0, told, "")

    monkeypatch.setattr(subprocess, "run", run)
    table = clocks.one_time("text")
    assert modes == ["LAZY", "EAGER"] * 2
    assert table.cells() == [["import", "2.00 s", "3.00 s"], ["context", "500 ms", "500 ms"]]
