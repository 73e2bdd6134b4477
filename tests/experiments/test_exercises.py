"""The judges of exercises take right answers only. Answers that they once took are among the wrong ones."""

import math

import numpy as np
import pytest

from fourways.experiments.exercises import check_break_even, check_wheels


def saved(a, b, kernel):
    return max(a.launch, kernel) - max(b.launch, kernel)


def break_even(a, b, kernel):
    return math.ceil((b.start - a.start) / saved(a, b, kernel)) if saved(a, b, kernel) > 0 else None


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b, kernel: None,
        lambda a, b, kernel: 65_536,
        lambda a, b, kernel: 10**400,
        lambda a, b, kernel: break_even(a, b, kernel) and -(10**5000),
        lambda a, b, kernel: break_even(a, b, kernel) or 10**5000,
        lambda a, b, kernel: float(break_even(a, b, kernel) or 0) or None,
        lambda a, b, kernel: math.floor((b.start - a.start) / saved(a, b, kernel)) + 1 if saved(a, b, kernel) else None,
        lambda a, b, kernel: None if (break_even(a, b, kernel) or 10**7) > 10**6 else break_even(a, b, kernel),
    ],
    ids=[
        "None",
        "constant",
        "too large",
        "too small",
        "too large for never",
        "no whole number",
        "one too many at a tie",
        "None above a million",
    ],
)
def test_a_wrong_break_even(function) -> None:
    assert check_break_even(function).startswith("Not yet: ")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (1e13, "a number beyond 1,000,000,000,000 came; wanted"),
        (-(10**13), "a number below -1,000,000,000,000 for"),
        (np.int64(1_234_567), "1,234,567 for"),
        ("7", "'7' came"),
    ],
)
def test_what_came_instead_of_a_break_even_is_told(answer, told: str) -> None:
    assert f"Not yet: {told}" in check_break_even(lambda a, b, kernel: answer)


def test_a_break_even_from_totals_is_told_of_rounding() -> None:
    def by_totals(a, b, kernel):
        saved = (a.total(1, kernel) - a.start) - (b.total(1, kernel) - b.start)
        return math.ceil((b.start - a.start) / saved) if saved > 0 else None

    assert "comes from rounding" in check_break_even(by_totals)


def test_the_break_even() -> None:
    assert check_break_even(break_even).startswith("Right")


def wheels(pythons, cudas, platforms, architectures, stable=None):
    majors = {cuda.split(".")[0] for cuda in cudas}
    return len({stable if stable and python >= stable else python for python in pythons}) * len(majors) * len(platforms)


def only_if_listed(pythons, cudas, platforms, architectures, stable=None):
    kept = [python for python in pythons if not stable or python <= stable]
    return wheels(kept, cudas, platforms, architectures, stable)


@pytest.mark.parametrize(
    "function",
    [
        lambda *lists, stable=None: 8 if stable else 12,
        lambda *lists, stable=None: wheels(*lists),
        lambda *lists, stable=None: None,
        only_if_listed,
    ],
    ids=["constant", "without the stable ABI", "None", "no wheel for Pythons after `stable`"],
)
def test_wrong_wheels(function) -> None:
    assert check_wheels(function).startswith("Not yet: ")


def test_the_wheels() -> None:
    assert check_wheels(wheels).startswith("Right")


def test_wheels_of_two_distant_versions_and_more_architectures() -> None:
    def spans(pythons, cudas, platforms, architectures, stable=None):
        majors = [int(version.split(".")[0]) for version in cudas]
        return wheels(pythons, ["1.0"], platforms, architectures, stable) * (max(majors) - min(majors) + 1)

    def by_architectures(pythons, cudas, platforms, architectures, stable=None):
        return wheels(pythons, cudas, platforms, architectures, stable) * len(architectures) // 3

    assert "none between" in check_wheels(spans) and "six architectures" in check_wheels(by_architectures)
