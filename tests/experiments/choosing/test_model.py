"""The model: sums, the longer of launch and kernel, and where two ways cross."""

import pytest

from fourways.experiments import choosing
from fourways.experiments.choosing.model import crossing, crossings

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


def test_crossings_come_in_order() -> None:
    third = choosing.Cost("third", {"start": 0.8}, 0.8, 0.8, launch=8e-6)
    found = crossings([QUICK_LAUNCH, third, QUICK_START], 1e-6)
    assert [(first.name, then.name) for _, first, then in found] == [
        ("third", "quick launch"),
        ("quick start", "quick launch"),
        ("quick start", "third"),
    ]
    assert [launches for launches, *_ in found] == sorted(launches for launches, *_ in found)
