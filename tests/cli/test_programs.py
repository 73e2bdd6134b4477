"""`fourways profile`: a report that you have, and the command of `ncu`, which a script plays. `fourways timeline`."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands import fourways

from fourways import profiling, tables, timeline

STORED = Path(__file__).parents[1] / "data" / "doublify.ncu-rep"


def test_a_report_that_you_have(tmp_path: Path) -> None:
    done = fourways("profile", STORED, "--json", tmp_path / "rows.json")
    assert done.exit_code == 0 and "gpu__time_duration.sum" in done.stdout
    kept = json.loads((tmp_path / "rows.json").read_text())["tables"]
    assert kept == {"metrics": profiling.metrics(STORED).rows, "lines": profiling.lines(STORED).rows}


def test_a_report_that_is_not_there(tmp_path: Path) -> None:
    assert "none.ncu-rep" in str(fourways("profile", tmp_path / "none.ncu-rep").exception)


LAUNCH = {"grid": [256, 1, 1], "block": [256, 1, 1], "registers": 16, "stream": 7}
ROWS: list[tables.Row] = [
    {"kind": "stage", "name": "import", "clock": "host", "start_seconds": 0.1, "seconds": 0.3},
    {"kind": "API call", "name": "cuLaunchKernel", "clock": "host", "start_seconds": 0.5, "seconds": 4e-6, "thread": 0},
    {"kind": "kernel", "name": "doublify", "clock": "device", "start_seconds": 0.51, "seconds": 2e-6, **LAUNCH},
]


def test_a_timeline_of_a_program_is_shown_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`ROWS` come back in the place of a run."""
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(timeline, "record", lambda *program: asked.append(program) or ROWS)
    program, rows = tmp_path / "mine.py", tmp_path / "rows.json"
    program.write_text("pass")
    done = fourways("timeline", program, "3", "4", "--json", rows)
    assert done.exit_code == 0 and "doublify" in done.stdout and "busy time" in done.stdout
    assert asked == [(program, "3", "4")]
    assert json.loads(rows.read_text())["tables"]["timeline"] == ROWS
