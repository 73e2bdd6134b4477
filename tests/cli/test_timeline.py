"""`fourways timeline`: a run shown, drawn and written for Perfetto; what is said without a GPU."""

import json
from pathlib import Path

import pytest
from commands import NO_GPU, fourways

from fourways import lesson, tables, timeline
from fourways.kernels import InputError

LAUNCH = {"grid": [256, 1, 1], "block": [256, 1, 1], "registers": 16, "stream": 7}
ROWS: list[tables.Row] = [
    {"kind": "NVTX range", "name": "import", "clock": "host", "start_seconds": 0.1, "seconds": 0.3},
    {"kind": "API call", "name": "cuLaunchKernel", "clock": "host", "start_seconds": 0.5, "seconds": 4e-6, "thread": 0},
    {"kind": "kernel", "name": "doublify", "clock": "device", "start_seconds": 0.51, "seconds": 2e-6, **LAUNCH},
]


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, int]]:
    """`ROWS` come back in the place of a run. What was asked for."""
    asked: list[tuple[str, str, int]] = []

    def of_lesson(found: lesson.Lesson, way: str, size: int) -> list[tables.Row]:
        asked.append((found.slug, way, size))
        return ROWS

    monkeypatch.setattr(timeline, "of_lesson", of_lesson)
    return asked


def test_a_timeline_is_shown_drawn_and_written(played: list, tmp_path: Path) -> None:
    trace, rows, figure = (tmp_path / name for name in ("trace.json", "rows.json", "timeline.svg"))
    done = fourways("timeline", "1", "--size", "2^16", "--trace", trace, "--json", rows, "--figure", figure)
    assert done.exit_code == 0 and "doublify" in done.stdout and "busy time" in done.stdout
    assert played == [("01_doublify", "nvrtc", 2**16)]
    assert json.loads(trace.read_text())["traceEvents"]
    assert json.loads(rows.read_text())["tables"]["timeline"] == ROWS
    assert "01_doublify, nvrtc" in figure.read_text()


def test_the_host_way_and_a_file_are_refused() -> None:
    done = fourways("timeline", "1", "--way", "host")
    assert done.exit_code == 1 and "the host way leaves the GPU idle" in str(done.exception)
    assert isinstance(fourways("timeline", "my.cu").exception, InputError)


@NO_GPU
def test_without_a_gpu() -> None:
    done = fourways("timeline", "1")
    assert done.exit_code == 1 and str(done.exception).startswith("no timeline: no NVIDIA driver")
