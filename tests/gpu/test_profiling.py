"""Nsight Compute on a real GPU: every way of a lesson by its program, with the kernel's source lines."""

from pathlib import Path

import pytest
from commands import fourways, said

from fourways import kernels, profiling, ways

SIZE = 2**22


@pytest.mark.parametrize("way", ["nvrtc", "nvcc", "pycuda", "pybind11"])
def test_every_way_has_a_profile(way: str, tmp_path: Path) -> None:
    if reason := ways.missing(way):
        pytest.skip(reason)
    try:
        profiling.find_ncu()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    report = tmp_path / "kept.ncu-rep"
    words = ("--way", way, "--size", "2^22", "--clocks", "none", "--report", report)
    done = fourways("profile", "1", *words)
    if isinstance(done.exception, PermissionError):
        pytest.skip(str(done.exception))
    assert done.exit_code == 0, said(done)
    rows = {row["metric"]: row for row in profiling.metrics(report).rows}
    assert {row["kernel"] for row in rows.values()} == {"doublify"} and not [
        row for row in rows.values() if row["value"] is None
    ]
    for op in ("ld", "st"):
        sectors, requests = (f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum" for what in ("sectors", "requests"))
        assert rows[sectors]["value"] == 4 * rows[requests]["value"] == SIZE / 8
    source, lines = kernels.source("doublify").splitlines(), profiling.lines(report).rows
    if way == "pybind11":  # built without -lineinfo
        return
    assert 0 < lines[0]["line"] <= len(source) and lines[0]["samples"] > 0
    if way == "nvrtc":  # of the others' sources no copy is kept
        assert "y[i] = FACTOR * x[i];" in [row["source"] for row in lines]
        assert all(row["source"] == source[row["line"] - 1].strip() for row in lines)
