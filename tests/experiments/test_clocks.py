"""Lesson 06: its made-up machines, and what noise and turns do to a comparison."""

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fourways.experiments import clocks

Fair = Callable[[Any, int, Callable[[], float]], Any]


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


def warmed(gpu: clocks.MadeUpGpu) -> clocks.MadeUpGpu:
    gpu.launch()
    gpu.wait()
    return gpu


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
