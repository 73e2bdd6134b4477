"""The model against fresh processes, which a stand-in plays. `make bench` tries it on real ones."""

import pytest

from fourways import choosing, timing, toolchain
from fourways.experiments import held_out, shipping


def test_a_trial_is_predicted_from_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The quickest of each; a kernel longer than a launch is the bound; what the inputs cost is left out."""
    took = {100_000: [(0.6, 1.4), (0.9, 1.6)], 50_000: [(0.5, 1.5), (0.7, 1.2)]}

    def first_result(*_: object, size: int, launches: int) -> dict[str, float]:
        assert size == (16 if launches == 100_000 else 1000)
        start, loop = took[launches].pop(0)
        return {"start": start - 0.1, "inputs": 9.0, "launch": 0.1, "launches": loop}

    monkeypatch.setattr(timing, "first_result", first_result)
    cost = choosing.Cost("host", {"start": 0.25}, 0.25, 0.25, launch=5e-6)
    trials = [held_out.Trial(100_000), held_out.Trial(50_000, 1000, {"host": 2e-5})]
    table = held_out.held_out("01", {"host": cost}, trials, {"host": 1e-5}, runs=2)
    assert not any(took.values()), "two processes each"
    assert [row["seconds"] for row in table.rows] == pytest.approx([2.0, 1.9])
    assert [row["slowest_seconds"] for row in table.rows] == pytest.approx([2.5, 2.0])
    assert [row["model_seconds"] for row in table.rows] == pytest.approx([0.5 + 1.0, 0.6 + 1.0])
    assert [row["error"] for row in table.rows] == pytest.approx([-0.25, 1.6 / 1.9 - 1])
    assert [row["recorded_seconds"] for row in table.rows] == pytest.approx([0.75, 1.25])
    assert [row["recorded_error"] for row in table.rows] == pytest.approx([-0.625, 1.25 / 1.9 - 1])
    assert table.note.endswith(
        "errors, recorded: host 62.5%; beyond 15%: host. Largest errors, today: host 25.0%; beyond 15%: host."
    )


def test_a_way_that_cannot_run_here_has_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", lambda way: "no GPU")
    trials = [held_out.Trial(10), held_out.Trial(20)]
    assert held_out.held_out("01", choosing.costs(*choosing.recorded()), trials, {}).rows == []


@pytest.mark.parametrize("trials, runs", [(1, 2), (0, 2), (2, 0)])
def test_nothing_to_predict_from(trials: int, runs: int) -> None:
    with pytest.raises(ValueError, match="expected at least two trials and one run"):
        held_out.held_out("01", {}, [held_out.Trial(10)] * trials, {}, runs)


def test_bytes_of_what_is_installed() -> None:
    numpy, both = shipping.installed_bytes("numpy"), shipping.installed_bytes("numpy", "cuda-pathfinder")
    assert numpy and both and 10e6 < numpy < both
    assert shipping.installed_bytes("numpy", "nobody-has-this") is None
