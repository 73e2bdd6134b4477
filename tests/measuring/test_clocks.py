"""The host's clock, by a clock that the tests set. The GPU's are tested in tests/gpu/test_measuring.py."""

import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from fourways import measuring


@pytest.fixture
def spend(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets seconds pass on the clock of `measuring`."""
    now = [0.0]
    clock = SimpleNamespace(perf_counter=lambda: now[0])
    monkeypatch.setattr(sys.modules["fourways.measuring.clocks"], "time", clock)

    def spend(seconds: float) -> None:
        now[0] += seconds

    return spend


def test_host_seconds_are_those_of_single_calls_after_one_to_warm_up(spend: Callable[[float], None]) -> None:
    log: list[str] = []

    def call() -> None:
        spend(0.021 if "call" in log else 100)
        log.append("call")

    def before() -> None:
        spend(50)
        log.append("before")

    samples = measuring.host_seconds(call, before)
    assert samples == pytest.approx([0.021] * 15), "0.3 s of samples; neither the first call nor what runs before"
    assert log == ["before", "call"] * 16


def test_a_slow_call_is_measured_five_times_and_a_quick_one_not_for_long(spend: Callable[[float], None]) -> None:
    assert measuring.host_seconds(lambda: spend(1000)) == pytest.approx([1000] * 5)
    assert len(measuring.host_seconds(lambda: None)) == 200


def test_all_names_take_their_turn_in_each_round() -> None:
    names = list(measuring.turns(50, "abc"))
    in_rounds = {"".join(names[begin : begin + 3]) for begin in range(0, 150, 3)}
    assert len(in_rounds) > 1 and {"".join(sorted(each)) for each in in_rounds} == {"abc"}
    assert list(measuring.turns(2, [])) == []
