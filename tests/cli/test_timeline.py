"""`fourways timeline`: a program or a lesson's way shown, drawn and written for Perfetto; what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands import NO_GPU, fourways

from fourways import cli, lesson, tables, timeline

LAUNCH = {"grid": [256, 1, 1], "block": [256, 1, 1], "registers": 16, "stream": 7}
ROWS: list[tables.Row] = [
    {"kind": "stage", "name": "import", "clock": "host", "start_seconds": 0.1, "seconds": 0.3},
    {"kind": "API call", "name": "cuLaunchKernel", "clock": "host", "start_seconds": 0.5, "seconds": 4e-6, "thread": 0},
    {"kind": "kernel", "name": "doublify", "clock": "device", "start_seconds": 0.51, "seconds": 2e-6, **LAUNCH},
]


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """`ROWS` come back in the place of a run, on a machine that seems to have all. What was recorded."""
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(timeline, "record", lambda *program: asked.append(program) or ROWS)
    monkeypatch.setattr(cli.options, "gpu_way", lambda way: None)
    return asked


def test_a_timeline_is_shown_drawn_and_written(played: list, tmp_path: Path) -> None:
    trace, rows, figure = (tmp_path / name for name in ("trace.json", "rows.json", "timeline.svg"))
    done = fourways("timeline", "1", "--size", "2^16", "--trace", trace, "--json", rows, "--figure", figure)
    assert done.exit_code == 0 and "doublify" in done.stdout and "busy time" in done.stdout
    assert played == [(lesson.program(lesson.find("1"), "nvrtc", 2**16, launches=10),)]
    assert json.loads(trace.read_text())["traceEvents"]
    assert json.loads(rows.read_text())["tables"]["timeline"] == ROWS
    assert "01_doublify, nvrtc" in figure.read_text()


def test_a_program_with_its_arguments(played: list, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("pass")
    assert fourways("timeline", tmp_path / "mine.py", "3", "4").exit_code == 0
    assert played == [(tmp_path / "mine.py", "3", "4")]
    done = fourways("timeline", "no.py")
    assert done.exit_code == 2 and "no file no.py" in done.stderr


@pytest.mark.parametrize("way", ["host", "opencl"])
def test_a_way_without_a_gpu_is_refused(way: str) -> None:
    done = fourways("timeline", "1", "--way", way)
    assert done.exit_code == 2 and f"'{way}'; choose from nvrtc, nvcc, pycuda, pybind11" in " ".join(
        done.stderr.split()
    )


@NO_GPU
def test_without_a_gpu() -> None:
    done = fourways("timeline", "1")
    assert done.exit_code == 1 and "nvrtc cannot run here: no NVIDIA driver" in str(done.exception)
