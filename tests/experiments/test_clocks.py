"""Lesson 06: what noise and turns do to a comparison."""

import itertools

import numpy as np
import pytest

from fourways.experiments import clocks


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
