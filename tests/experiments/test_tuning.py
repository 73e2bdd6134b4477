"""A search over variants, with functions that run on the CPU; costs."""

import math
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fourways import ways
from fourways.experiments import tuning

WAYS = ways.Ways("doublify", lambda size: (np.ones(size, np.float32),), lambda x: 2 * x, {})
NOW = [0.0]  # what the clock shows: a variant takes its delay, a build 0.5 s
VARIANTS = [
    {"factor": factor, "delay": delay} for factor, delay in ((2, 0.002), (3, 0.001), ("two", 0.001), (2, 0.001))
]


def build(factor: Any, delay: float) -> Callable[..., None]:
    NOW[0] += 0.5
    if factor == "two":
        raise ValueError("two is no number\nand this is its second line")

    def function(x: np.ndarray, y: np.ndarray) -> None:
        NOW[0] += delay
        np.multiply(x, factor, out=y)

    return function


@pytest.fixture(scope="module")
def rows() -> list[dict]:
    clock = SimpleNamespace(perf_counter=lambda: NOW[0])
    with pytest.MonkeyPatch.context() as patch:
        for name in ("measuring.clocks", "experiments.tuning.search"):
            patch.setattr(sys.modules[f"fourways.{name}"], "time", clock)
        return tuning.tune(WAYS, VARIANTS, build, size=1000, way="host")


def test_every_variant_has_its_row_and_only_right_ones_are_timed(rows: list[dict]) -> None:
    assert [row["variant"] for row in rows] == VARIANTS
    assert [bool(row["seconds"]) for row in rows] == [True, False, False, True]
    assert rows[0]["problem"] is None and rows[3]["problem"] is None
    assert rows[1]["problem"].startswith("size 1: element 0 is 3.0, expected 2.0")
    assert rows[2]["problem"] == "ValueError: two is no number"
    assert [rows[number]["seconds"]["median"] for number in (0, 3)] == pytest.approx([0.002, 0.001])
    assert [row["build_seconds"] for row in rows] == pytest.approx([0.5] * 4)
    assert rows[2]["search_seconds"] == pytest.approx(0.5), "it was not built"
    assert rows[0]["search_seconds"] > 0.5 + 0.002 * rows[0]["seconds"]["samples"]


def test_constants_come_back_to_the_last_bit() -> None:
    taps = tuning.smoothing(5)
    assert [np.float32(float.fromhex(text.removesuffix("f"))) for text in tuning.constants(taps).split(",")] == list(
        taps
    )
    assert taps.dtype == np.float32 and taps.min() > 0 and taps.sum() == pytest.approx(1)


def test_payback_names_the_fastest_and_its_costs(rows: list[dict]) -> None:
    table = tuning.payback(rows)
    assert table.note == "The fastest is factor: 2, delay: 0.001. Each call saves 1.00 ms."
    assert [cell for line in table.cells() for cell in line][:3] == ["the fastest one's build", "500 ms", "500"]
    assert table.rows[1]["seconds"] == pytest.approx(sum(row["search_seconds"] for row in rows))
    assert [row["calls"] for row in tuning.payback(rows[:1]).rows] == [math.inf, math.inf]
    with pytest.raises(ValueError, match="no variant is right: size 1: .*; ValueError: two is no number"):
        tuning.payback(rows[1:3])
