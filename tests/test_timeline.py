"""Timelines: CUPTI's records of fresh processes become rows, which are summed up, drawn and exported.

CUPTI is a stand-in: it reports what the recorded program tells it to.
"""

import pytest

from fourways import tables, timeline, toolchain


def test_without_a_gpu_or_cupti(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", lambda need: None)
    monkeypatch.setattr(toolchain, "installed", lambda module: False)
    with pytest.raises(RuntimeError, match="pip install cupti-python"):
        timeline.record("pass")
    monkeypatch.setattr(toolchain, "missing", lambda need: "no NVIDIA driver")
    with pytest.raises(RuntimeError, match="no timeline: no NVIDIA driver"):
        timeline.record("pass")


def row(kind: str, name: str, start: float, seconds: float, **more: object) -> tables.Row:
    clock = "device" if kind in ("kernel", "copy") else "host"
    more |= {"stream": 7} if clock == "device" else {}
    return {"kind": kind, "name": name, "clock": clock, "start_seconds": start, "seconds": seconds, **more}


@pytest.fixture
def rows() -> list[tables.Row]:
    """Synthetic: written by hand, in the order of size that an H200 shows; no run of anything."""
    launch = {"grid": [262144, 1, 1], "block": [256, 1, 1], "registers": 16}
    kernels = [row("kernel", "doublify", 0.91 + i * 130e-6, 128e-6, **launch) for i in range(10)]
    return [
        row("stage", "import", 0.1, 0.3),
        row("stage", "context", 0.4, 0.07),
        row("stage", "import", 0.48, 0.02),
        row("stage", "inputs", 0.5, 0.35),
        row("copy", "host to device", 0.7, 0.04, bytes=2**28),
        row("stage", "build", 0.85, 0.05),
        row("NVTX range", "load", 0.88, 0.01),
        row("stage", "launches", 0.9099, 0.0015),
        *[row("API call", "cuLaunchKernel", 0.9099 + i * 6e-6, 4e-6, thread=0) for i in range(10)],
        row("API call", "cudaDeviceSynchronize", 0.91001, 0.0014, thread=0),
        row("synchronization", "context synchronize", 0.91002, 0.0013),
        *kernels,
        row("stage", "copy back", 0.912, 0.03),
        row("copy", "device to host", 0.9125, 0.02, bytes=2**28),
    ]


def test_the_table_sums_up_the_gpus_work_by_name(rows: list[tables.Row]) -> None:
    table = timeline.table(rows)
    found = {row["name"]: row for row in table.rows}
    assert list(found)[:3] == ["host to device", "device to host", "doublify"], "the longest first"
    doublify = found["doublify"]
    assert doublify["seconds"]["samples"] == 10 and doublify["clock"] == "device"
    assert doublify["total_seconds"] == pytest.approx(1.28e-3)
    assert doublify["share"] == pytest.approx(1.28e-3 / 61.28e-3)
    assert found["between first and last work"]["share"] == pytest.approx(1 - 61.28e-3 / 0.2325)
    assert "doublify" in str(table) and "2.1% of busy time" in str(table)


def kernel(name: str, start: float, seconds: float) -> tables.Row:
    return {"kind": "kernel", "name": name, "clock": "device", "start_seconds": start, "seconds": seconds, "stream": 7}


def test_work_on_two_streams_at_once_is_busy_once() -> None:
    rows = [kernel("a", 0.0, 2.0), kernel("b", 1.0, 2.0), kernel("c", 4.0, 1.0)]
    found = {row["name"]: row for row in timeline.table(rows).rows}
    assert found["a"]["share"] == 0.5, "2 of 4 busy seconds"
    assert found["between first and last work"]["total_seconds"] == 1.0
