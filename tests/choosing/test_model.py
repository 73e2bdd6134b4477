"""The model: sums, the longer of launch and kernel, and where two ways cross."""

from dataclasses import replace

import pytest

from fourways import choosing
from fourways.choosing.model import crossing, crossings

QUICK_START = choosing.Cost("quick start", {"start": 0.25, "import": 0.25}, 0.4, 0.6, launch=10e-6)
QUICK_LAUNCH = choosing.Cost("quick launch", {"start": 0.25, "build": 0.75}, 0.9, 1.1, launch=5e-6)


def test_the_total_is_the_stages_and_the_longer_of_launch_and_kernel() -> None:
    assert QUICK_START.total(0, 1e-6) == pytest.approx(0.5)
    assert QUICK_START.total(100_000, 1e-6) == pytest.approx(1.5), "bound by the host"
    assert QUICK_START.total(100_000, 30e-6) == pytest.approx(3.5), "bound by the GPU"


def test_where_a_way_overtakes_another_their_bands_part() -> None:
    launches = crossing(QUICK_START, QUICK_LAUNCH, 1e-6)
    assert launches == pytest.approx(140_000)
    assert QUICK_START.spread(140_000, 1e-6)[0] == pytest.approx(QUICK_LAUNCH.spread(140_000, 1e-6)[1])
    assert crossing(QUICK_START, QUICK_LAUNCH, 8e-6) == pytest.approx(350_000), "the kernel hides a part"


@pytest.mark.parametrize("kernel", [10e-6, 30e-6])
def test_under_a_long_kernel_nothing_crosses(kernel: float) -> None:
    assert crossing(QUICK_START, QUICK_LAUNCH, kernel) is None


def test_who_is_behind_from_the_start_to_the_end_crosses_nobody() -> None:
    assert crossing(QUICK_LAUNCH, QUICK_START, 1e-6) is None
    assert crossing(QUICK_START, QUICK_START, 1e-6) is None


def test_crossings_come_in_order() -> None:
    third = choosing.Cost("third", {"start": 0.8}, 0.8, 0.8, launch=8e-6)
    found = crossings([QUICK_LAUNCH, third, QUICK_START], 1e-6)
    assert [(first.name, then.name) for _, first, then in found] == [
        ("third", "quick launch"),
        ("quick start", "quick launch"),
        ("quick start", "third"),
    ]
    assert [launches for launches, *_ in found] == sorted(launches for launches, *_ in found)


def test_what_differs_by_no_more_than_the_spread_does_not_cross() -> None:
    slow, fast = replace(QUICK_START, launch_low=6e-6), replace(QUICK_LAUNCH, launch_high=7e-6)
    assert crossing(slow, fast, 1e-6) is None, "the launches overlap"


@pytest.mark.parametrize(
    "text, seconds", [("30us", 30e-6), ("30 µs", 30e-6), ("0.2ms", 2e-4), ("1.5s", 1.5), ("4e2NS", 4e-7)]
)
def test_a_time_with_its_unit(text: str, seconds: float) -> None:
    assert choosing.parse_seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "30", "us", "banana", "-3us", "0us", "nan s", "1e999s", "3 weeks", "1..5s"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a time above 0; expected a number and its unit, such as 30us"):
        choosing.parse_seconds(text)


def test_a_way_that_starts_and_launches_quicker_is_overtaken_by_nobody() -> None:
    best = choosing.Cost("best", {"start": 0.1}, 0.1, 0.1, launch=1e-6)
    assert crossing(QUICK_START, best, 1e-6) is None, "a negative number of launches is none"
    assert [then.name for _, _, then in crossings([best, QUICK_START, QUICK_LAUNCH], 1e-6)] == ["quick launch"]
