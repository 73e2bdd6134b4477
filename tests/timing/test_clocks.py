"""The host's clock. The GPU's are tested in tests/gpu/test_timing.py."""

import time

import pytest

from fourways import timing


def test_host_seconds_are_those_of_single_calls_after_one_to_warm_up() -> None:
    calls: list[float] = []

    def call() -> None:
        calls.append(time.perf_counter())
        time.sleep(0.02 if len(calls) > 1 else 0.1)

    samples = timing.host_seconds(call)
    assert 5 <= len(samples) == len(calls) - 1
    assert 0.02 <= timing.summary(samples)["median"] < 0.2
    assert samples[0] == pytest.approx(calls[2] - calls[1], abs=0.01), "the first call is not among the samples"


def test_what_is_quick_is_measured_often_but_not_for_long() -> None:
    assert len(timing.host_seconds(lambda: None)) == 200


def test_launch_seconds_are_of_calls_that_nobody_waits_for() -> None:
    log: list[str] = []
    samples = timing.launch_seconds(lambda: log.append("call"), lambda: log.append("wait"))
    assert log.index("wait") == 0 and log[-1] == "wait", "nothing else is in the queue, before and after"
    calls = log.count("call")
    assert calls / log.count("wait") > 50, "and no wait between two calls of a batch"
    assert 10 < len(samples) < calls / 50
    assert all(0 < sample < 1e-3 for sample in samples), "seconds of one call, not of a batch"
