"""A search over variants, with functions that run on the CPU."""

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
        for name in ("timing.clocks", "experiments.tuning"):
            patch.setattr(sys.modules[f"fourways.{name}"], "time", clock)
        return tuning.tune(WAYS, VARIANTS, build, size=1000, way="host")


def test_every_variant_has_its_row_and_only_right_ones_are_timed(rows: list[dict]) -> None:
    assert [row["variant"] for row in rows] == VARIANTS
    assert [bool(row["seconds"]) for row in rows] == [True, False, False, True]
    assert rows[0]["problem"] is None and rows[3]["problem"] is None
    assert rows[1]["problem"].startswith("size 1: element 0 is 3.0, expected 2.0")
    assert rows[2]["problem"] == "ValueError: two is no number"
    assert [rows[number]["seconds"]["median"] for number in (0, 3)] == pytest.approx([0.002, 0.001])
    assert [row["build_seconds"] for row in rows] == [0.5] * 4
    assert rows[2]["search_seconds"] == 0.5, "it was not built"
    assert rows[0]["search_seconds"] > 0.5 + 0.002 * rows[0]["seconds"]["samples"]


def test_a_launch_that_fails_is_a_problem_of_its_variant() -> None:
    def refuse(x: np.ndarray, y: np.ndarray) -> None:
        raise RuntimeError

    (row,) = tuning.tune(WAYS, [{}], lambda: refuse, size=10, way="host")
    assert row["problem"] == "RuntimeError: " and row["seconds"] is None and row["build_seconds"] >= 0


def test_a_variant_that_goes_wrong_while_it_is_timed_has_no_time() -> None:
    sizes: list[int] = []

    def tired(x: np.ndarray, y: np.ndarray) -> None:
        sizes.append(x.size)
        if sizes.count(10) < 4:
            np.multiply(x, 2, out=y)

    (row,) = tuning.tune(WAYS, [{}], lambda: tired, size=10, way="host")
    assert row["seconds"] is None
    assert row["problem"].startswith("size 10: after the last timed call element 0 is nan")


def test_no_sample_is_answered_from_the_output_of_the_one_before() -> None:
    answered: list[int] = []

    def cheat(x: np.ndarray, y: np.ndarray) -> None:
        if x.size and (y == 2 * x).all():
            answered.append(x.size)
        np.multiply(x, 2, out=y)

    (row,) = tuning.tune(WAYS, [{}], lambda: cheat, size=10, way="host")
    assert row["seconds"]["samples"] > 1 and not answered


@pytest.mark.parametrize("name, said", [("k.cu", "k.cu(21)"), (f"{'8a34' * 10}.cubin.cu", "line 21")])
def test_a_compilers_words_are_cut_to_its_first_error(name: str, said: str) -> None:
    def build() -> Callable[..., None]:
        raise RuntimeError(f"\n/tmp/abc/{name}(3): warning: unused\n/tmp/abc/{name}(21): error: no alignment\n1 error")

    (row,) = tuning.tune(WAYS, [{}], build, size=10, way="host")
    assert row["problem"] == f"RuntimeError: {said}: error: no alignment"


def test_the_best_is_right_and_quick(rows: list[dict]) -> None:
    assert tuning.best(rows) is rows[3]
    with pytest.raises(ValueError, match="no variant is right: size 1: .*; ValueError: two is no number"):
        tuning.best(rows[1:3])


def test_the_table_shows_choices_outcomes_and_the_searchs_cost(rows: list[dict]) -> None:
    table = tuning.tune_table(rows)
    headings = [heading for heading, _ in table.columns]
    assert headings[:2] == ["factor", "delay"] and "median (host)" in headings
    cells = table.cells()
    assert [line[-2] for line in cells][1:3] == ["", ""] and cells[0][-2] == "1.00" and cells[3][-2] == "2.00"
    assert [line[-1] for line in cells][::3] == ["right", "right"]
    assert table.note.startswith("The search took ")


def test_pays_after() -> None:
    assert tuning.pays_after(1.0, slow=3e-3, fast=1e-3) == pytest.approx(500)
    assert tuning.pays_after(1.0, slow=1e-3, fast=1e-3) == math.inf == tuning.pays_after(1.0, slow=1e-3, fast=2e-3)


def test_the_figure_reaches_beyond_the_last_crossing() -> None:
    figure = tuning.totals_figure({"plain": (0, 2e-3), "tuned": (1.0, 1e-3)}, "totals")
    plain, tuned = (line.get_xydata() for line in figure.axes[0].lines)
    assert plain[0][0] == 1 and plain[-1][0] > 1000
    assert plain[0][1] == pytest.approx(2e-3) and tuned[0][1] == pytest.approx(1.001)
    assert plain[-1][1] > tuned[-1][1]
    alone = tuning.totals_figure({"plain": (0, 1e-3), "worse": (1, 1e-3)}, "parallel").axes[0].lines[0].get_xydata()
    assert len(alone) >= 2
