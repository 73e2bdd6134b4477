"""The rule, the table, and the timers on stand-ins for their libraries. tests/gpu/test_timers.py has the real ones."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fourways import process, tables, timing, toolchain
from fourways.experiments import cheats, timers
from fourways.experiments.timers import libraries, verdicts


def report(*samples: float, objection: str | None = None) -> tables.Row:
    return {"seconds": tables.summary(samples) if samples else None, "objection": objection}


STEADY = report(*[1.0] * 10)
WIDE = report(0.8, 0.9, 1.0, 1.1, 1.2)  # p10 to p90: 0.32


@pytest.mark.parametrize(
    "honest, cheat, expected",
    [
        (STEADY, report(0.1), "believes"),
        (STEADY, report(2.0), "believes"),
        (STEADY, report(0.96), "not fooled"),
        (STEADY, report(1.04), "not fooled"),
        (WIDE, report(0.7), "not fooled"),
        (WIDE, report(0.6), "believes"),
        (STEADY, report(*[0.1] * 8, 1.0, 1.0), "believes"),
        (STEADY, report(objection="wrong"), "notices"),
        (STEADY, report(0.1, objection="too good"), "notices"),
        (report(1.0, objection="clock"), report(0.1, objection="clock"), "believes"),
        (report(1.0, objection="clock"), report(0.1), "believes"),
        (report(objection="refused"), report(objection="refused"), ""),
        (report(objection="refused"), report(0.1), ""),
    ],
)
def test_the_rule(honest: tables.Row, cheat: tables.Row, expected: str) -> None:
    assert verdicts.word(honest, cheat) == expected


def reports(**by_kind: tables.Row) -> dict[str, dict[str, tables.Row]]:
    return {cheat.name: {"honest": STEADY, "cheat": STEADY, **by_kind} for cheat in cheats.CHEATS}


def test_the_table_has_a_row_for_each_cheat_and_a_column_for_each_timer() -> None:
    noticed = reports(cheat=report(objection="output mismatch"))
    table = verdicts.table(
        {"do_bench": reports(cheat=report(0.125)), "KernelBench": noticed, "ours": reports()}, {"nvbench": "not here"}
    )
    assert [heading for heading, _ in table.columns] == ["cheat", *timers.TIMERS]
    assert [line[0] for line in table.cells()] == [cheat.name for cheat in cheats.CHEATS]
    cells = dict(zip(["cheat", *timers.TIMERS], table.cells()[0], strict=True))
    assert (cells["do_bench"], cells["KernelBench"], cells["ours"]) == ("believes 0.12", "notices", "not fooled 1.00")
    assert cells["nvbench"] == cells["%timeit"] == ""
    assert "nvbench: not here." in table.note
    row = table.rows[0]
    assert row["words"] == {"do_bench": "believes", "KernelBench": "notices", "ours": "not fooled"}
    assert row["objections"] == {"do_bench": None, "KernelBench": "output mismatch", "ours": None}
    assert row["cheat_seconds"]["do_bench"]["median"] == 0.125 and row["cheat_seconds"]["KernelBench"] is None
    assert json.dumps(table.rows)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets a module be importable, with these names in it."""

    def install(name: str, **names: Any) -> None:
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            path = ".".join(parts[:end])
            if end > 1:  # `cupyx` may be a lazy module: its own imports run now, before there is a stand-in
                getattr(sys.modules[".".join(parts[: end - 1])], parts[end - 1], None)
            module = sys.modules.get(path) if end < len(parts) else None
            if module is None:
                module = ModuleType(path)
                monkeypatch.setitem(sys.modules, path, module)
            if end > 1:
                monkeypatch.setattr(sys.modules[".".join(parts[: end - 1])], parts[end - 1], module, raising=False)
        vars(sys.modules[name]).update(names)

    return install


class Counted:
    """A trial that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def call(self) -> None:
        self.calls += 1


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    import cupy

    @contextmanager
    def from_external(stream: Any) -> Iterator[None]:
        used.append(stream)
        yield

    used: list[Any] = []
    monkeypatch.setattr(cupy.cuda, "Stream", SimpleNamespace(from_external=from_external))
    return used


def test_cupys_gpu_times_are_seconds(installed: Callable[..., None]) -> None:
    def benchmark(call: Callable[[], None], n_repeat: int) -> Any:
        call()
        return SimpleNamespace(gpu_times=np.full((1, n_repeat), 0.5))

    installed("cupyx.profiler", benchmark=benchmark)
    assert libraries.cupy_benchmark(Counted()) == [0.5] * 100


def test_cupys_benchmark_takes_the_call_as_it_is() -> None:
    """It asks for a name, which a bound method has."""
    assert Counted().call.__name__ == "call"


@pytest.mark.parametrize("name", ["do_bench", "do_bench_cudagraph"])
def test_tritons_milliseconds_become_seconds_and_its_stream_cupys(
    name: str, installed: Callable[..., None], streams: list[Any]
) -> None:
    def bench(call: Callable[[], None], return_mode: str) -> list[float]:
        call()
        assert return_mode == "all"
        return [250.0, 500.0]

    installed("triton.testing", **{name: bench})
    installed("torch", cuda=SimpleNamespace(current_stream=lambda: "PyTorch's"))
    trial = Counted()
    assert getattr(libraries, name)(trial) == [0.25, 0.5]
    assert trial.calls == 1 and streams == ["PyTorch's"]


def test_pytorchs_timer_gets_the_call_by_its_name(installed: Callable[..., None]) -> None:
    class Timer:
        def __init__(self, stmt: str, globals: dict[str, Any]) -> None:
            exec(stmt, globals)

        def blocked_autorange(self) -> Any:
            return SimpleNamespace(times=[0.5])

    installed("torch.utils.benchmark", Timer=Timer)
    trial = Counted()
    assert libraries.torch_timer(trial) == [0.5] and trial.calls == 1


def test_ipythons_timeit_is_the_real_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    trial = Counted()
    samples = libraries.timeit(trial)
    assert len(samples) == 7 and all(0 < sample < 1e-3 for sample in samples) and trial.calls > 1000


class Torch:
    """What the method of KernelBench calls, with a clock that the calls advance."""

    def __init__(self) -> None:
        self.now, self.flushed = 0.0, 0
        self.int64 = "int64"
        self.cuda = SimpleNamespace(synchronize=lambda: None, Event=self.event)

    def event(self, enable_timing: bool) -> Any:
        event = SimpleNamespace(at=0.0)
        event.record = lambda: setattr(event, "at", self.now)
        event.elapsed_time = lambda end: 1e3 * (end.at - event.at)
        return event

    def empty(self, shape: tuple, dtype: str, device: str) -> Any:
        assert 8 * np.prod(shape) == 256 * 2**20
        return SimpleNamespace(fill_=self.flush)

    def flush(self, value: int) -> None:
        self.now += 100
        self.flushed += 1

    as_tensor = staticmethod(np.asarray)
    allclose = staticmethod(np.allclose)


class Candidate:
    """A trial of KernelBench: doubles, in so many seconds a call."""

    def __init__(self, torch: Torch, seconds: float, factor: float = 2.0) -> None:
        self.torch, self.seconds, self.factor, self.output = torch, seconds, factor, np.zeros(3)

    def function(self, x: np.ndarray, y: np.ndarray) -> None:
        np.multiply(x, self.factor, out=y)

    def inputs(self, seed: int) -> list[np.ndarray]:
        return [np.full(3, float(seed))]

    def call(self) -> None:
        self.torch.now += self.seconds

    def honest(self) -> "Candidate":
        return Candidate(self.torch, 1.0)


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Torch:
    torch = Torch()
    monkeypatch.setitem(sys.modules, "torch", torch)
    return torch


def test_kernelbenchs_times_leave_out_the_flush(torch: Torch) -> None:
    assert libraries.kernelbench(Candidate(torch, 0.5)) == pytest.approx([0.5] * 100)
    assert torch.flushed == 2 * 101, "of the candidate and of the reference"


@pytest.mark.parametrize("factor", [3.0, np.nan])
def test_kernelbench_compares_answers(torch: Torch, factor: float) -> None:
    with pytest.raises(libraries.ObjectionError, match="output mismatch for inputs 1 of 5"):
        libraries.kernelbench(Candidate(torch, 1.0, factor))


def test_kernelbench_flags_what_is_too_good(torch: Torch) -> None:
    with pytest.raises(libraries.ObjectionError, match="excessive speedup: 20 times the reference") as caught:
        libraries.kernelbench(Candidate(torch, 0.05))
    assert caught.value.samples == pytest.approx([0.05] * 100)


class Ours(Counted):
    """A trial of the project's own timer, with what it finds."""

    cheat = SimpleNamespace(name="a cheat")

    def __init__(self, unseen: str | None = None, wrong: str | None = None) -> None:
        super().__init__()
        self.next = SimpleNamespace(elsewhere=lambda call: unseen)
        self.problem = lambda: wrong
        self.restore = lambda: None


@pytest.mark.parametrize(
    "trial, mhz, objection",
    [
        (Ours(), 1000.0, None),
        (Ours(unseen="it works elsewhere"), 1000.0, "it works elsewhere"),
        (Ours(wrong="element 0 is nan"), 1000.0, "after the last timed call element 0 is nan"),
        (Ours(), 500.0, "a cheat: the GPU's clock moved between 500 and 1000 MHz"),
    ],
)
def test_our_timer_judges(trial: Ours, mhz: float, objection: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(calls: list, cold: bool, before: Callable[[], None]) -> list:
        assert cold and calls == [trial.call] and before is trial.restore
        return [SimpleNamespace(seconds=[0.5, 0.5], mhz=[mhz, 1000.0])]

    monkeypatch.setattr(timing, "measure", measure)
    reported = libraries._reported(lambda: libraries.ours(trial))
    assert reported["objection"] == objection
    assert bool(reported["seconds"]) == (objection is None or "clock" in objection)


def test_nvbench_runs_once_with_all_functions(installed: Callable[..., None], streams: list[Any]) -> None:
    benchmarks: dict[str, Callable] = {}
    runs: list[list[str]] = []
    launched: dict[str, list[float] | None] = {}

    class State:
        def __init__(self, name: str) -> None:
            self.name = name

        def exec(self, launcher: Callable[[Any], None], batched: bool) -> None:
            assert not batched
            launcher(SimpleNamespace(get_stream=lambda: f"the stream of {self.name}"))
            launched[self.name] = [0.25, 0.5] if self.name == "one" else None

        def skip(self, reason: str) -> None:
            assert reason == "the first answer is wrong"

    def run_all(argv: list[str]) -> None:
        runs.append(argv)
        for name, benchmark in benchmarks.items():
            benchmark(State(name))

    def register(benchmark: Callable) -> Any:
        return SimpleNamespace(set_name=lambda name: benchmarks.__setitem__(name, benchmark))

    def from_json(path: Path) -> dict[str, list]:
        assert str(path) == runs[0][runs[0].index("--jsonbin") + 1]
        state = {name: SimpleNamespace(samples=samples, skip_reason=None) for name, samples in launched.items()}
        return {name: [state[name]] if name in state else [] for name in benchmarks}

    def wrong() -> cheats.Trial:
        raise libraries.ObjectionError("the first answer is wrong")

    installed("cuda.bench", register=register, run_all_benchmarks=run_all)
    installed("cuda.bench.results", BenchmarkResult=SimpleNamespace(from_json=from_json))
    trial: Any = Counted()
    reported = libraries.nvbench({"one": lambda: trial, "two": wrong, "three": lambda: trial})
    assert reported["one"] == {"seconds": tables.summary([0.25, 0.5]), "objection": None}
    assert reported["two"] == {"seconds": None, "objection": "the first answer is wrong"}
    assert reported["three"] == {"seconds": None, "objection": "it gives no samples"}
    assert len(runs) == 1 and streams == ["the stream of one", "the stream of three"] and trial.calls == 2


def test_a_librarys_own_error_is_an_objection() -> None:
    def fail(_: Any) -> list[float]:
        raise RuntimeError("operation not permitted when stream is capturing\nand more")

    trial: Any = Counted()
    reported = libraries._each(fail)({"one": lambda: trial})
    assert reported == {"one": report(objection="RuntimeError: operation not permitted when stream is capturing")}


def test_a_trial_is_made_checked_and_settled_right_before_its_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[str] = []

    class Trial:
        def __init__(self, cheat: cheats.Cheat, is_honest: bool) -> None:
            self.name = f"{cheat.name}, {'honest' if is_honest else 'cheat'}"
            log.append(f"make {self.name}")

        def passes(self) -> bool:
            return self.name != "NaN, cheat"

        def settle(self) -> None:
            log.append("settle")

    def timer(trial: Any) -> list[float]:
        log.append(f"time {trial.name}")
        return [1.0]

    monkeypatch.setattr(verdicts, "Trial", Trial)
    monkeypatch.setitem(timers.TIMERS, "own", libraries.Timer(libraries._each(timer)))
    answer = verdicts.measured("own")
    assert list(answer) == [cheat.name for cheat in cheats.CHEATS]
    assert log[:3] == ["make answer replayed, honest", "settle", "time answer replayed, honest"]
    assert answer["NaN"] == {"honest": report(1.0), "cheat": report(objection="the first answer is wrong")}
    assert "time NaN, cheat" not in log


def test_what_is_not_installed_or_fails_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = {
        "ours": process.Ended(reports(), 0, ""),
        "%timeit": process.Ended(None, -11, "some words\nthe last line"),
    }
    monkeypatch.setattr(verdicts, "missing", lambda name: None if name in ended else "not here")
    monkeypatch.setattr(process, "run", lambda program, task, *_, **__: ended[task["timer"]])
    table = timers.compare()
    assert "%timeit: its process failed, -11: the last line" in table.note and "nvbench: not here" in table.note
    assert [line[-2:] for line in table.cells()] == [["", "not fooled 1.00"]] * len(cheats.CHEATS)


@pytest.mark.parametrize("name", timers.TIMERS)
def test_a_timer_that_is_missing_says_why(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "installed", lambda module: None)
    monkeypatch.setattr(toolchain, "missing", lambda need: f"no {need}")
    first = timers.TIMERS[name].modules[:1]
    expected = f"{first[0]} is not installed: {timers.TIMERS[name].remedy}" if first else "no gpu"
    assert timers.missing(name) == expected
    monkeypatch.setattr(toolchain, "installed", lambda module: Path(module))
    assert timers.missing(name) == "no gpu"


@pytest.mark.skipif(not toolchain.missing("gpu"), reason="for machines without a GPU")
def test_without_a_gpu_the_table_is_empty_and_says_so() -> None:
    table = timers.compare(["CuPy benchmark", "ours"])
    assert "no NVIDIA driver" in table.note or "shows no GPU" in table.note
    assert all(line[1:] == [""] * len(timers.TIMERS) for line in table.cells())
