"""The model against fresh processes, which a stand-in plays."""

import pytest

from fourways import choosing, measuring, toolchain
from fourways.experiments.held_out import Program, held_out

COST = choosing.Cost("host", {"start": 0.25}, 0.25, 0.25, launch=5e-6)


def test_predictions_come_from_the_recordings_and_errors_have_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    took = {100_000: [(0.5, 0.5), (0.6, 1.4), (0.5, 0.6)], 1000: [(0.5, 1.5), (0.7, 1.2), (0.5, 0.1)]}

    def first_result(*_: object, size: int, launches: int, reads: bool) -> dict[str, float]:
        assert (size, reads) == ((16, False) if launches == 100_000 else (4096, True))
        start, loop = took[launches].pop(0)
        return {"start": start - 0.1, "inputs": 9.0, "launch": 0.1, "launches": loop}

    monkeypatch.setattr(measuring, "first_result", first_result)
    programs = [Program("launches", 100_000), Program("reads", 1000, 4096, kernel=2e-4, read=1e-4)]
    slower = choosing.Cost("host", {"start": 1.25}, 1.25, 1.25, launch=5e-6)
    table = held_out("01", {"morning": {"host": COST}, "evening": {"host": slower}}, programs, runs=3)
    assert not any(took.values()), "three processes each"
    first, second = table.rows
    assert (first["seconds"], second["seconds"]) == pytest.approx((1.1, 1.9)), "medians, without the inputs"
    assert [cells[3] for cells in table.cells()] == ["1.02 – 1.82 s", "860 ms – 1.98 s"]
    assert first["predicted"] == pytest.approx({"morning": 0.75, "evening": 1.75})
    assert second["predicted"]["morning"] == pytest.approx(0.25 + 1000 * (5e-6 + 2e-4 + 1e-4)), "nothing is hidden"
    assert first["errors"] == pytest.approx({"morning": 0.75 / 1.1 - 1, "evening": 1.75 / 1.1 - 1})
    assert "morning: errors from -70.8% to -31.8%, on average -51.3%; 2 of 2 beyond 15%." in table.note


def test_a_kernel_longer_than_its_launch_is_the_bound() -> None:
    assert Program("kernels", 1000, kernel=1e-3).predicted(COST) == pytest.approx(1.25)


def test_a_way_that_cannot_run_here_has_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", lambda way: "no GPU")
    recorded = {"book": choosing.costs(*choosing.recorded())}
    assert held_out("01", recorded, [Program("short", 10)]).rows == []


def test_a_way_that_a_recording_lacks_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "first_result", lambda *_, **__: {"start": 0.25})
    for lacking in ("morning", "evening"):
        recordings = {name: {"host": COST} | {"nvcc": COST} for name in ("morning", "evening")}
        del recordings[lacking]["nvcc"]
        table = held_out("01", recordings, [Program("short", 10)])
        assert [row["way"] for row in table.rows] == ["host"] and table.note.endswith("Not in every recording: nvcc.")


def test_nothing_to_predict() -> None:
    for programs, runs in (([], 2), ([Program("short", 10)], 0)):
        with pytest.raises(ValueError, match="expected at least one program, one recording and one run"):
            held_out("01", {"book": {}}, programs, runs)
