"""A search over variants, with functions that run on the CPU; costs; the judges of lesson 09's exercises."""

import math
import re
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fourways import kernels, measuring, tables, ways
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


def test_the_table_shows_choices_outcomes_and_the_searchs_cost(rows: list[dict]) -> None:
    table = tuning.tune_table(rows)
    headings = [heading for heading, _ in table.columns]
    assert headings[:2] == ["factor", "delay"] and "median (host)" in headings
    cells = table.cells()
    assert [line[-2] for line in cells][1:3] == ["", ""] and cells[0][-2] == "1.00" and cells[3][-2] == "2.00"
    assert [line[-1] for line in cells][::3] == ["right", "right"]
    assert table.note.startswith("The search took ")


def test_constants_come_back_to_the_last_bit() -> None:
    taps = tuning.smoothing(5)
    assert [np.float32(float.fromhex(text.removesuffix("f"))) for text in tuning.constants(taps).split(",")] == list(
        taps
    )
    assert taps.dtype == np.float32 and taps.min() > 0 and taps.sum() == pytest.approx(1)


@pytest.fixture
def raced(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, Callable[[], Any]], np.ndarray], tables.Table]:
    """`tuning.race` with NumPy's arrays, and a timer that calls nothing."""

    def time_calls(calls: dict[str, Any], moved: int, name: str) -> tables.Table:
        return tables.Table(name, [{"way": way} for way in [*calls, "device copy"]])

    monkeypatch.setitem(sys.modules, "cupy", np)
    monkeypatch.setattr(measuring, "time_calls", time_calls)
    return lambda calls, y: tuning.race(calls, y, np.ones(3, np.float32), "raced")


def test_a_race_judges_what_is_written_and_what_is_returned(raced: Callable[..., tables.Table]) -> None:
    y = np.zeros(3, np.float32)

    def absent() -> None:
        raise ImportError("no library\nlooked everywhere")

    calls = {"writes": lambda: y.fill(1), "returns": lambda: np.full(3, 1.0001), "absent": absent}
    table = raced(calls, y)
    assert [(row["way"], row["off by"]) for row in table.rows] == [
        ("writes", "0e+00"),
        ("returns", "1e-04"),
        ("device copy", ""),
    ]
    assert table.note == "3 outputs. absent: ImportError: no library."
    for wrong in (lambda: y.fill(1.01), lambda: None):
        with pytest.raises(AssertionError, match="late: off by"):
            raced({"early": lambda: y.fill(1), "late": wrong}, y)


def test_the_machine_code_of_a_window() -> None:
    """What lesson 09 says: five wide loads, and a tap from constant memory in a uniform register."""
    known = ("-DLENGTH=16", "-DOUTPUTS=4")
    table = tuning.listing(kernels.source("fir"), {"nothing": (), "loaded": known, "fixed": (*known, "-DCONSTANT=16")})
    assert [row["wide loads"] for row in table.rows] == [0, 5, 5]
    assert table.rows[2]["other loads"] < table.rows[1]["other loads"]
    assert [", UR" in row["first multiply-add"] for row in table.rows] == [False, False, True]


@pytest.mark.long
def test_a_longer_list_makes_a_larger_module() -> None:
    rows = tuning.lists([(), (8, 24)], ("90", "80")).rows
    assert [row["lengths"] for row in rows] == ["none", "8 24", "8 24"]
    assert [row["architectures"] for row in rows] == [1, 1, 2]
    assert rows[0]["bytes"] < rows[1]["bytes"] < rows[2]["bytes"]


@pytest.mark.long
def test_precompiled_headers_are_made_again_for_every_option_and_macro() -> None:
    places = {"an option": "", "a constant": "constexpr int THREADS = {};\n"}
    body = 'extern "C" __global__ void f(int *x) { *x = THREADS; }\n'
    table = tuning.precompiled("#include <cuda/std/cstddef>\n", places, body)
    assert {row["number of threads"]: row["headers made"] for row in table.rows} == {
        "without": 0,
        "an option": 6,
        "a constant": 1,
    }


def test_payback_names_the_fastest_and_its_costs(rows: list[dict]) -> None:
    table = tuning.payback(rows)
    assert table.note == "The fastest is factor: 2, delay: 0.001. Each call saves 1.00 ms."
    assert [cell for line in table.cells() for cell in line][:3] == ["the fastest one's build", "500 ms", "500"]
    assert table.rows[1]["seconds"] == sum(row["search_seconds"] for row in rows)
    assert [row["calls"] for row in tuning.payback(rows[:1]).rows] == [math.inf, math.inf]
    with pytest.raises(ValueError, match="no variant is right: size 1: .*; ValueError: two is no number"):
        tuning.payback(rows[1:3])


def products(taps: np.ndarray, keep: Callable[[int, float], Any], between: str = " + ") -> str:
    return between.join(f"{tap.hex()}f * x[i + {k}]" for k, tap in enumerate(taps.tolist()) if keep(k, tap))


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        (lambda taps: "0.0f", "the sum is 0 for every x"),
        (lambda taps: None, "None came; wanted is the sum as a str"),
        (lambda taps: "x[i] +", "expected"),
        (lambda taps: "0x1p-1f * x[i + 0]", "the filter's tap 0 is "),
        (lambda taps: products(taps, lambda k, tap: True), r"the sum is right, but has 7 products for 5 taps"),
        (lambda taps: products(taps, lambda k, tap: tap != 0).replace("f *", " *"), "is computed in double"),
        (lambda taps: products(taps, lambda k, tap: tap > 0), "the filter's tap 3 is -"),
        (lambda taps: products(taps, lambda k, tap: tap), "expected"),
        (
            lambda taps: " + ".join(f"{tap:.8g}f * x[i + {k}]" for k, tap in enumerate(taps) if tap),
            "some of its bits are lost",
        ),
        (lambda taps: products(taps, lambda k, tap: k % 2 == 0), "the filter's tap 3 is "),
        (lambda taps: products(taps, lambda k, tap: k not in (1, 5)), "the filter's tap 1 is "),
        (
            lambda taps: " + ".join(f"{tap:.3f}f * x[i + {k}]" for k, tap in enumerate(taps) if tap),
            "some of its bits are lost",
        ),
        (
            lambda taps: " + ".join(
                f"{tap.hex()}f * x[i + {k}]" if tap else f"(x[i + {k}] - x[i + {k}])"
                for k, tap in enumerate(taps.tolist())
            ),
            "the sum is right, but reads an element of x for tap 1, which is 0",
        ),
        (
            lambda taps: products(taps[taps != 0], lambda k, tap: True),
            "has the value of another tap",
        ),
    ],
)
def test_a_wrong_expression_is_told_what_is_wrong(expression: Callable[[np.ndarray], Any], told: str) -> None:
    for _ in range(2):
        assert re.match(f"Not yet: .*{told}", tuning.check_expression(expression))


@pytest.mark.parametrize("between", [" + ", "\n+ "])
def test_a_right_expression(between: str) -> None:
    said = tuning.check_expression(lambda taps: products(taps, lambda k, tap: tap, between) or "0.0f")
    assert said.startswith("Right for four filters")


def keeping(key: Callable[[np.ndarray], Any]) -> Callable[..., None]:
    kept: dict[Any, Any] = {}

    def smooth(build: Any, x: np.ndarray, taps: np.ndarray, y: np.ndarray) -> None:
        if key(taps) not in kept:
            kept[key(taps)] = build(taps), taps
        kept[key(taps)][0](x, y)

    return smooth


def by_numpy(build: Any, x: np.ndarray, taps: np.ndarray, y: np.ndarray) -> None:
    y[:] = np.correlate(x, taps, "valid")


def launched_and_ignored(build: Any, x: np.ndarray, taps: np.ndarray, y: np.ndarray) -> None:
    build(taps)(x, y)
    by_numpy(build, x, taps, y)


def one_for_all(build: Any, x: np.ndarray, taps: np.ndarray, y: np.ndarray) -> None:
    ALL_KEPT(build, x, taps, y)
    by_numpy(build, x, taps, y)


ALL_KEPT = keeping(lambda taps: None)


@pytest.mark.parametrize(
    ("smooth", "told"),
    [
        (lambda build, x, taps, y: None, "call 1 is wrong, and no kernel was launched"),
        (lambda build, x, taps: None, "call 1 raised TypeError"),
        (lambda build, x, taps, y: build(taps)(x, y), "3 filters took 7 builds"),
        (launched_and_ignored, "3 filters took 7 builds"),
        (keeping(lambda taps: taps.size), "call 2 is wrong, a kernel for other taps answered"),
        (one_for_all, "the answers are right, but 3 filters took 1 builds"),
        (keeping(lambda taps: float(taps.sum())), "call [23] is wrong, a kernel for other taps answered"),
        (keeping(lambda taps: float(taps[0])), "call 2 is wrong, a kernel for other taps answered"),
        (keeping(lambda taps: (taps[0], taps[-1])), "call 2 is wrong, a kernel for other taps answered"),
        (keeping(lambda taps: tuple(taps.round(6))), "the answers are right, but 3 filters took 2 builds"),
        (keeping(id), "call 3 is wrong, a kernel for other taps answered"),
        (by_numpy, "call 1 is right, but it launched 0 kernels; wanted is 1"),
    ],
)
def test_a_filter_that_is_not_kept_is_told(smooth: Callable[..., None], told: str) -> None:
    assert re.match(f"Not yet: .*{told}", tuning.check_kept(smooth))


def test_a_kernel_kept_by_the_contents_of_its_taps_is_right() -> None:
    for key in (bytes, lambda taps: tuple(taps.tolist()), lambda taps: taps.tobytes()):
        assert tuning.check_kept(keeping(key)) == "Right: 7 calls with 3 filters took 3 builds."
