"""Lesson 07's programs, as far as they need no GPU."""

from pathlib import Path

import pytest

from fourways.experiments import slow_program
from fourways.experiments.slow_program import profiles, program


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (profiles, program):
        monkeypatch.setattr(module, "folder", lambda: tmp_path)
    return tmp_path


def test_the_recorded_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = slow_program.report()
    for launch in (1, 2, 3):
        table, lines = slow_program.metrics(report, launch, ("dram", "sectors")), slow_program.lines(report, launch, 2)
        assert table is not None and lines is not None
        assert [row["metric"] for row in table.rows] == ["dram", "sectors"] and len(lines.rows) == 2
    assert slow_program.metrics(report, 4, ("dram",)) is None and slow_program.lines(report, 4) is None
    assert slow_program.roofline(report) is not None
    slow_program.dram(report)
    assert capsys.readouterr().out.count("2.15 GB") == 2


def test_a_report_that_is_missing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = slow_program.report("nobody")
    assert report == ([], []) and slow_program.roofline(report) is None
    slow_program.dram(report)
    assert capsys.readouterr().out.startswith("no file ")


def test_loads_in_a_row() -> None:
    assert [slow_program.loads_in_a_row(f"ROOM=12288 AHEAD={ahead}") for ahead in (4, 16)] == [4, 8]
