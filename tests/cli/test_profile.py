"""`fourways profile`: what needs no GPU of it, and what it says where there is none."""

import json
from pathlib import Path

import pytest
from commands import NO_GPU, fourways

from fourways import lesson, nsight

STORED = Path(__file__).parents[1] / "data" / "doublify.ncu-rep"


def test_a_report_that_you_have(tmp_path: Path) -> None:
    rows, figure = tmp_path / "rows.json", tmp_path / "roofline.svg"
    done = fourways("profile", STORED, "--json", rows, "--figure", figure)
    assert done.exit_code == 0 and "stall reasons" in " ".join(done.stdout.split())
    kept = json.loads(rows.read_text())["tables"]
    assert kept == {"profile": nsight.read(STORED).metrics, "profile_lines": nsight.read(STORED).lines}
    assert "doublify" in figure.read_text()


def test_a_report_that_is_not_there(tmp_path: Path) -> None:
    assert "none.ncu-rep" in str(fourways("profile", tmp_path / "none.ncu-rep").exception)


def test_the_report_to_keep_is_named_as_one() -> None:
    done = fourways("profile", "1", "--report", "mine.txt")
    assert done.exit_code == 2 and "a report is a .ncu-rep file" in " ".join(done.stderr.split())


@NO_GPU
def test_without_a_gpu() -> None:
    done = fourways("profile", "1")
    assert done.exit_code == 1 and str(done.exception).startswith("nothing to profile: no NVIDIA driver")


@NO_GPU
def test_nsight_systems_is_called_where_it_can_be() -> None:
    done = fourways("profile", "1", "--nsys", "--way", "nvcc", "--size", "2^10")
    assert "profile --trace=cuda,nvtx,osrt" in done.stdout and "--output=doublify_nvcc.nsys-rep" in done.stdout
    assert "1 nvcc --size=1024" in done.stdout
    assert done.exit_code == 1 and isinstance(done.exception, nsight.ProfilingError)


def test_without_counters_events_time_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_) -> None:
        raise nsight.NoCountersError("no right to read the GPU's counters")

    def by_events(target: str, way: str, size: int, entry: str | None, case: Path | None) -> dict:
        seconds = {"median": 1e-3, "p10": 1e-3, "p90": 1e-3, "samples": 9}
        return {"way": way, "size": size, "clock": "device", "seconds": seconds, "bytes": 8, "bytes_per_second": 1e9}

    monkeypatch.setattr(nsight, "profile", refuse)
    monkeypatch.setattr(nsight, "by_events", by_events)
    done = fourways("profile", lesson.find("1").number, "--size", "1000", "--json", tmp_path / "rows.json")
    assert "By events, no counters." in done.stdout and "1.00 ms" in done.stdout
    assert isinstance(done.exception, nsight.NoCountersError)
    content = json.loads((tmp_path / "rows.json").read_text())
    assert content["tables"]["timing"][0]["way"] == "nvrtc" and "no right" in content["failure"]
