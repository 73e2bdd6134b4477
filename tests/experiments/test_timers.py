"""The rule and the table of timers. The page itself runs the timers, on a GPU."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fourways import tables
from fourways.experiments import cheats, timers
from fourways.experiments.timers import libraries, verdicts


def report(*samples: float, objection: str | None = None) -> tables.Row:
    return {"seconds": tables.summary(samples) if samples else None, "objection": objection}


STEADY = report(*[1.0] * 10)
WIDE = report(0.8, 0.9, 1.0, 1.1, 1.2)  # p10 to p90: 0.32


@pytest.mark.parametrize(
    "honest, cheat, expected",
    [
        (STEADY, report(0.1), "believes"),
        (STEADY, report(2.0), "believes"),
        (STEADY, report(0.96), "not fooled"),
        (STEADY, report(1.04), "not fooled"),
        (WIDE, report(0.7), "not fooled"),
        (WIDE, report(0.6), "believes"),
        (STEADY, report(*[0.1] * 8, 1.0, 1.0), "believes"),
        (STEADY, report(objection="wrong"), "notices"),
        (STEADY, report(0.1, objection="too good"), "notices"),
        (report(1.0, objection="clock"), report(0.1, objection="clock"), "believes"),
        (report(1.0, objection="clock"), report(0.1), "believes"),
        (report(objection="refused"), report(objection="refused"), ""),
        (report(objection="refused"), report(0.1), ""),
    ],
)
def test_the_rule(honest: tables.Row, cheat: tables.Row, expected: str) -> None:
    assert verdicts.word(honest, cheat) == expected


def reports(**by_kind: tables.Row) -> dict[str, dict[str, tables.Row]]:
    return {cheat.name: {"honest": STEADY, "cheat": STEADY, **by_kind} for cheat in cheats.CHEATS}


def test_the_table_has_a_row_for_each_cheat_and_a_column_for_each_timer() -> None:
    noticed = reports(cheat=report(objection="output mismatch"))
    table = verdicts.table(
        {"do_bench": reports(cheat=report(0.125)), "KernelBench": noticed, "ours": reports()}, {"nvbench": "not here"}
    )
    assert [heading for heading, _ in table.columns] == ["cheat", *timers.TIMERS]
    assert [line[0] for line in table.cells()] == [cheat.name for cheat in cheats.CHEATS]
    cells = dict(zip(["cheat", *timers.TIMERS], table.cells()[0], strict=True))
    assert (cells["do_bench"], cells["KernelBench"], cells["ours"]) == ("believes 0.12", "notices", "not fooled 1.00")
    assert cells["nvbench"] == cells["%timeit"] == ""
    assert "nvbench: not here." in table.note
    row = table.rows[0]
    assert row["words"] == {"do_bench": "believes", "KernelBench": "notices", "ours": "not fooled"}
    assert row["objections"] == {"do_bench": None, "KernelBench": "output mismatch", "ours": None}
    assert row["cheat_seconds"]["do_bench"]["median"] == 0.125 and row["cheat_seconds"]["KernelBench"] is None
    assert json.dumps(table.rows)


def test_ipythons_timeit_is_the_real_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    calls: list[int] = []
    samples = libraries.timeit(SimpleNamespace(call=lambda: calls.append(1)))  # type: ignore[arg-type]
    assert len(samples) == 7 and all(0 < sample < 1e-3 for sample in samples) and len(calls) > 1000


def test_a_trial_is_made_checked_and_settled_right_before_its_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[str] = []

    class Trial:
        def __init__(self, cheat: cheats.Cheat, is_honest: bool) -> None:
            self.name = f"{cheat.name}, {'honest' if is_honest else 'cheat'}"
            log.append(f"make {self.name}")

        def passes(self) -> bool:
            return self.name != "NaN, cheat"

        def settle(self) -> None:
            log.append("settle")

    def timer(trial: Any) -> list[float]:
        log.append(f"time {trial.name}")
        return [1.0]

    monkeypatch.setattr(verdicts, "Trial", Trial)
    monkeypatch.setitem(timers.TIMERS, "own", libraries.Timer(libraries._each(timer)))
    answer = verdicts.measured("own")
    assert list(answer) == [cheat.name for cheat in cheats.CHEATS]
    assert log[:3] == ["make answer replayed, honest", "settle", "time answer replayed, honest"]
    assert answer["NaN"] == {"honest": report(1.0), "cheat": report(objection="the first answer is wrong")}
    assert "time NaN, cheat" not in log
