"""`fourways profile`: a report that you have, and the command of `ncu`, which a script plays. `fourways timeline`."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import fourways

from fourways import lesson, profiling, tables, timeline

STORED = Path(__file__).parents[1] / "data" / "doublify.ncu-rep"
NCU = f"""#!{sys.executable}
import json, os, pathlib, shutil, sys
words = sys.argv
assert os.environ["NVCC_APPEND_FLAGS"] == "-O1 -lineinfo"
pathlib.Path(os.environ["TOLD"]).write_text(json.dumps(words))
pathlib.Path(os.environ["TOLD"] + ".py").write_text(pathlib.Path(os.environ["PROGRAM"] or words[-1]).read_text())
shutil.copy({str(STORED)!r}, words[words.index("--export") + 1])
"""


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the words that `ncu` was called with; its program lies beside it."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ncu").write_text(NCU)
    (tmp_path / "bin" / "ncu").chmod(0o755)
    monkeypatch.setattr(profiling, "find_ncu", lambda: str(tmp_path / "bin" / "ncu"))
    monkeypatch.setattr("fourways.ways.missing", lambda way: None)
    for name, value in {"TOLD": str(tmp_path / "told"), "PROGRAM": "", "NVCC_APPEND_FLAGS": "-O1"}.items():
        monkeypatch.setenv(name, value)
    return tmp_path / "told"


def test_a_report_that_you_have(tmp_path: Path) -> None:
    done = fourways("profile", STORED, "--json", tmp_path / "rows.json")
    assert done.exit_code == 0 and "gpu__time_duration.sum" in done.stdout
    kept = json.loads((tmp_path / "rows.json").read_text())["tables"]
    assert kept == {"metrics": profiling.metrics(STORED).rows, "lines": profiling.lines(STORED).rows}


def test_a_way_of_a_lesson(told: Path, tmp_path: Path) -> None:
    report = tmp_path / "mine.ncu-rep"
    words = ("--size", "2^10", "--clocks", "none", "--entry", "doublify", "--report", report)
    done = fourways("profile", "1", *words)
    assert done.exit_code == 0, done.exception
    assert report.read_bytes() == STORED.read_bytes() and "registers" in done.stdout
    called = " ".join(json.loads(told.read_text()))
    assert "--kernel-name doublify" in called and called.endswith("1_nvrtc.py")
    assert "--clock-control none --profile-from-start off" in called
    assert Path(f"{told}.py").read_text() == lesson.program(lesson.find("1"), "nvrtc", 1024)


def test_a_program_of_your_own(told: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "mine.py"
    program.write_text("pass")
    monkeypatch.setenv("PROGRAM", str(program))
    monkeypatch.setattr("fourways.toolchain.missing", lambda need: None)
    assert fourways("profile", program, "3").exit_code == 0
    called = json.loads(told.read_text())
    assert called[-2:] == [str(program), "3"] and "--profile-from-start" not in called


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
