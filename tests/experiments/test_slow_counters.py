"""What lesson 07 reads in a report of Nsight Compute: a stored one (doublify by NVRTC, 2^26 elements, an H200)."""

from pathlib import Path
from typing import Any

import pytest

from fourways import kernels, tables
from fourways.experiments.slow_program import report_tables
from fourways.experiments.slow_program.counters import Report, read

STORED = Path(__file__).parents[1] / "data" / "doublify.ncu-rep"
SIZE = 2**26


@pytest.fixture(scope="module")
def report() -> Report:
    return read(STORED)


@pytest.fixture(scope="module")
def metrics(report: Report) -> dict[str, tables.Row]:
    return {row["metric"]: row for row in report.metrics}


def with_metric(report: Report, metric: str, **changed: object) -> list[tables.Row]:
    return [row | changed if row["metric"] == metric else row for row in report.metrics]


def shown(rows: list[dict[str, Any]]) -> dict[str, str]:
    """The column `value`, by metric."""
    return {cells[0]: cells[1] for cells in report_tables.table(rows).cells()}


def test_time_and_traffic_are_those_of_the_kernel(metrics: dict[str, tables.Row]) -> None:
    duration = metrics["duration"]["seconds"]
    assert 100e-6 < duration < 400e-6
    moved = metrics["dram"]["bytes_per_second"] * duration
    assert 0.9 * 8 * SIZE < moved < 1.05 * 8 * SIZE  # the last of what was written may still lie in L2
    assert metrics["dram"]["peak_bytes_per_second"] == pytest.approx(4.8e12, rel=0.02)  # H200 data sheet
    assert (metrics["sectors"]["loads"], metrics["sectors"]["stores"]) == (4, 4)
    assert metrics["roofline"]["flop_per_second"] * duration == pytest.approx(SIZE, rel=1e-3)
    assert sum(metrics["stalls"]["shares"].values()) == pytest.approx(1)


def test_lines_are_those_of_the_source(report: Report) -> None:
    source = kernels.source("doublify").splitlines()
    assert report.lines[0]["text"] == "y[i] = FACTOR * x[i];"
    assert all(row["text"] == source[row["line"] - 1].strip() for row in report.lines)
    assert sum(row["sample_share"] for row in report.lines) == pytest.approx(1)


def test_every_metric_has_a_title_a_value_and_a_meaning(report: Report) -> None:
    assert report_tables.table(report.metrics).note == "doublify on NVIDIA H200"
    assert shown(report.metrics) == {
        "duration": "204 µs",
        "DRAM throughput": "2.54 TB/s, 53 % of peak",
        "L2 hit rate": "50 %, of reads 0 %",
        "achieved occupancy": "72 %, 100 % possible",
        "sectors a request": "loads 4, stores 4",
        "stall reasons": "long_scoreboard 82 %, wait 5 %, not_selected 3 %",
        "roofline": "0.13 FLOP/byte, 329 GFLOP/s (fp32), 53 % of the memory roof",
    }
    meanings = {cells[0]: cells[2] for cells in report_tables.table(report.metrics).cells()}
    assert meanings["stall reasons"].endswith("; long_scoreboard: data from global or local memory")


def test_what_a_report_lacks_is_said(report: Report) -> None:
    kept = ("metric", "launch", "kernel", "device", "clock", "precision")
    lacking = shown([{key: row[key] if key in kept else None for key in row} for row in report.metrics])
    assert lacking.pop("sectors a request") == "none"
    assert set(lacking.values()) == {"not in this report"}
    assert shown(with_metric(report, "roofline", peak_flop_per_second=None))["roofline"] == "329 GFLOP/s (fp32)"


def test_the_roofline_has_a_point_for_each_launch(report: Report) -> None:
    (row,) = [row for row in report.metrics if row["metric"] == "roofline"]
    drawn = report_tables.figure([*report.metrics, row | {"launch": 2}], "a title")
    names = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert names == ["1: doublify, 53 % of its roof", "2: doublify, 53 % of its roof"]
    point = drawn.axes[0].lines[-1]
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (row["flop_per_byte"], row["flop_per_second"])
    with pytest.raises(ValueError, match="no roofline"):
        report_tables.figure(with_metric(report, "roofline", flop_per_second=0.0), "")
