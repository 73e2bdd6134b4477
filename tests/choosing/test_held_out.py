"""The model against fresh processes, on the host way: a child that launches N more times."""

import pytest

from fourways import choosing, lesson, timing, toolchain

FOUND = lesson.find("01")


def test_a_process_launches_as_often_as_it_is_told() -> None:
    none, many = (timing.first_result(FOUND, "host", {}, launches=launches) for launches in (0, 500))
    assert "launches" not in none
    assert many["launches"] > 50 * many["launch"] / 100 > 0, "500 launches take longer than half of one"


def test_the_size_is_the_one_asked_for() -> None:
    small, large = (timing.first_result(FOUND, "host", {}, size=size, launches=1) for size in (16, 2**22))
    assert large["launches"] > 3 * small["launches"]


def test_the_model_holds_on_the_host_way() -> None:
    """Loosely: other tests run beside it. The lesson states the error."""
    cost = choosing.measured_cost("01", "host")
    assert cost.low <= cost.start <= cost.high and not {"inputs", "launches"} & cost.stages.keys()
    many = int(2 * cost.start / cost.launch)
    table = choosing.held_out("01", {"host": cost}, [choosing.Trial(many)])
    (row,) = table.rows
    assert row["model_seconds"] == pytest.approx(cost.start + many * cost.launch)
    assert 1 / 3 < row["model_seconds"] / row["seconds"] < 3, "without the launches it would be less than a third"
    assert row["error"] == pytest.approx(row["model_seconds"] / row["seconds"] - 1)
    assert table.cells()[0][:3] == ["host", "16", f"{many:,}"]
    assert table.note.endswith(f"Largest error: host {abs(row['error']):.1%}.")


def test_a_kernel_longer_than_a_launch_is_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "first_result", lambda *_, **__: {"start": 0.5, "inputs": 9.0, "launches": 1.5})
    cost = choosing.Cost("host", {"start": 0.5}, 0.5, 0.5, launch=1e-6)
    trials = [choosing.Trial(100_000), choosing.Trial(100_000, 1000, {"host": 1e-5})]
    rows = choosing.held_out("01", {"host": cost}, trials).rows
    assert [row["seconds"] for row in rows] == [2.0, 2.0], "what the inputs cost is left out"
    assert [row["model_seconds"] for row in rows] == pytest.approx([0.6, 1.5])
    assert [row["error"] for row in rows] == pytest.approx([-0.7, -0.25])


def test_a_way_that_cannot_run_here_has_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", lambda way: "no GPU")
    assert choosing.held_out("01", choosing.costs(*choosing.recorded()), [choosing.Trial(10)]).rows == []


def test_bytes_of_what_is_installed() -> None:
    numpy, both = choosing.installed_bytes("numpy"), choosing.installed_bytes("numpy", "cuda-pathfinder")
    assert numpy and both and 10e6 < numpy < both
    assert choosing.installed_bytes("numpy", "nobody-has-this") is None
