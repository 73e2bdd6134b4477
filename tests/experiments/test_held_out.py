"""The model against fresh processes, which a stand-in plays."""

import pytest

from fourways import measuring
from fourways.experiments.held_out import Cost, Program, held_out

COST = Cost("host", {"start": 0.25}, 0.25, 0.25, launch=5e-6)


def test_predictions_come_from_the_recordings_and_errors_have_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    took = {100_000: [(0.5, 0.5), (0.6, 1.4), (0.5, 0.6)], 1000: [(0.5, 1.5), (0.7, 1.2), (0.5, 0.1)]}

    def first_result(*_: object, size: int, launches: int, reads: bool) -> dict[str, float]:
        assert (size, reads) == ((16, False) if launches == 100_000 else (4096, True))
        start, loop = took[launches].pop(0)
        return {"start": start - 0.1, "inputs": 9.0, "launch": 0.1, "launches": loop}

    monkeypatch.setattr(measuring, "first_result", first_result)
    programs = [Program("launches", 100_000), Program("reads", 1000, 4096, kernel=2e-4, read=1e-4)]
    slower = Cost("host", {"start": 1.25}, 1.25, 1.25, launch=5e-6)
    table = held_out("01", {"morning": {"host": COST}, "evening": {"host": slower}}, programs, runs=3)
    assert not any(took.values()), "three processes each"
    first, second = table.rows
    assert (first["seconds"], second["seconds"]) == pytest.approx((1.1, 1.9)), "medians, without the inputs"
    assert [cells[3] for cells in table.cells()] == ["1.02 – 1.82 s", "860 ms – 1.98 s"]
    assert first["predicted"] == pytest.approx({"morning": 0.75, "evening": 1.75})
    assert second["predicted"]["morning"] == pytest.approx(0.25 + 1000 * (5e-6 + 2e-4 + 1e-4)), "nothing is hidden"
    assert first["errors"] == pytest.approx({"morning": 0.75 / 1.1 - 1, "evening": 1.75 / 1.1 - 1})
    assert "morning: errors from -70.8% to -31.8%, on average -51.3%; 2 of 2 beyond 15%." in table.note
