"""The host's clock, by a clock that the tests set. The GPU's are tested in tests/gpu/test_measuring.py."""

import itertools
import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from fourways import lesson, measuring


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


def test_what_takes_long_is_measured_five_times(spend: Callable[[float], None]) -> None:
    assert measuring.host_seconds(lambda: spend(1000)) == pytest.approx([1000] * 5)


def test_what_is_quick_is_measured_often_but_not_for_long() -> None:
    assert len(measuring.host_seconds(lambda: None)) == 200


def test_names_take_turns_and_each_begins_a_round() -> None:
    assert "".join(measuring.turns(4, "abc")) == "abcbcacababc"
    assert list(measuring.turns(2, [])) == []


def test_samples_are_taken_in_turns_and_the_first_rounds_are_not_counted() -> None:
    count = itertools.count()
    samplers = dict.fromkeys("ab", lambda: float(next(count)))
    assert measuring.sampled(samplers, 3) == {"a": [0, 3, 4], "b": [1, 2, 5]}
    assert measuring.sampled(samplers, 3, warm_up=1) == {"a": [9, 10], "b": [8, 11]}


def test_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording measures as often as asked, any other run about a third of that; always an odd number."""
    monkeypatch.delenv(lesson.RECORDS, raising=False)
    assert [measuring.rounds(count) for count in (3, 7, 21, 60)] == [1, 3, 7, 21]
    monkeypatch.setenv(lesson.RECORDS, "1")
    assert measuring.rounds(21) == 21
