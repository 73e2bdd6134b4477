"""What a report says, shown: the stored one (doublify, an H200) as tables and as a figure."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from fourways import nsight

STORED = Path(__file__).parents[1] / "data" / "doublify.ncu-rep"


@pytest.fixture(scope="module")
def report() -> nsight.Report:
    return nsight.read(STORED)


def values(rows: list[dict[str, Any]]) -> dict[str, str]:
    """The column `value`, by metric."""
    return {cells[0]: cells[1] for cells in nsight.table(rows).cells()}


def with_metric(report: nsight.Report, metric: str, **changed: object) -> list[dict[str, Any]]:
    return [row | changed if row["metric"] == metric else row for row in report.metrics]


def test_every_metric_has_a_title_a_value_and_a_meaning(report: nsight.Report) -> None:
    table = nsight.table(report.metrics)
    assert [heading for heading, _ in table.columns] == ["metric", "value", "what it means"]
    assert table.note == "doublify on NVIDIA H200"
    shown = values(report.metrics)
    assert shown["duration"] == "204 µs"
    assert shown["DRAM throughput"] == "2.54 TB/s, 53 % of peak"
    assert shown["L2 hit rate"] == "50 %, of reads 0 %"
    assert shown["achieved occupancy"] == "72 %, 100 % possible"
    assert shown["registers"] == "16 a thread"
    assert shown["sectors a request"] == "loads 4, stores 4"
    assert shown["bank conflicts"] == "no shared memory in use"
    some = with_metric(report, "bank conflicts", count=31_000.0, rounds=32_000.0)
    assert values(some)["bank conflicts"] == "31,000 of 32,000 rounds"
    assert shown["stall reasons"].startswith("long_scoreboard 82 %, ")
    assert shown["instructions"].startswith("88.1 million, integer 57 %, ")
    assert shown["roofline"] == "0.13 FLOP/byte, 329 GFLOP/s (fp32), 53 % of the memory roof"


def test_the_table_says_what_the_top_stall_means(report: nsight.Report) -> None:
    meanings = {cells[0]: cells[2] for cells in nsight.table(report.metrics).cells()}
    assert meanings["stall reasons"].endswith("; long_scoreboard: data from global or local memory")
    unknown = nsight.table(with_metric(report, "stalls", shares={"selected": 0.9, "no_such_reason": 0.1}))
    assert "no_such_reason 10 %" in str(unknown) and "no_such_reason:" not in str(unknown)


def test_what_a_report_lacks_is_said(report: nsight.Report) -> None:
    kept = ("metric", "launch", "kernel", "device", "clock", "precision")
    shown = values([{key: row[key] if key in kept else None for key in row} for row in report.metrics])
    assert shown.pop("sectors a request") == "none"
    assert len(shown) == 9 and set(shown.values()) == {"not in this report"}


@pytest.mark.parametrize(
    ("metric", "lacking", "title", "value"),
    [
        ("dram", "peak_bytes_per_second", "DRAM throughput", "2.54 TB/s"),
        ("l2", "read_hit_percent", "L2 hit rate", "50 %"),
        ("occupancy", "possible_percent", "achieved occupancy", "72 %"),
        ("sectors", "loads", "sectors a request", "stores 4"),
        ("instructions", "shares", "instructions", "88.1 million"),
        ("roofline", "peak_flop_per_second", "roofline", "329 GFLOP/s (fp32)"),
    ],
)
def test_a_part_that_a_report_lacks_is_left_out(
    report: nsight.Report, metric: str, lacking: str, title: str, value: str
) -> None:
    assert values(with_metric(report, metric, **{lacking: None}))[title] == value


def test_lines_without_their_text_and_no_lines_are_explained(report: nsight.Report) -> None:
    assert nsight.lines_table(report.lines).note == ""
    without = [row | {"text": ""} for row in report.lines]
    assert "does not hold it" in nsight.lines_table(without).note
    assert "-lineinfo" in nsight.lines_table([]).note


def test_several_launches_have_a_column_each(report: nsight.Report) -> None:
    second = with_metric(report, "registers", count=40.0)
    rows = [*report.metrics, *[row | {"launch": 2, "kernel": "other"} for row in second]]
    table = nsight.table(json.loads(json.dumps(rows)))
    assert [heading for heading, _ in table.columns] == ["metric", "1: doublify", "2: other"]
    assert len(table.cells()) == 10 and ["registers", "16 a thread", "40 a thread"] in table.cells()
    assert table.rows == rows, "kept as they came"
    many = nsight.table([row | {"launch": launch} for launch in range(1, 6) for row in report.metrics])
    assert many.columns[0][0] == "launch" and len(many.cells()) == 50, "too many columns"
    assert table.note == (
        "doublify on NVIDIA H200; other on NVIDIA H200\nlong_scoreboard: data from global or local memory"
    )


def test_several_launches_are_told_apart(report: nsight.Report) -> None:
    second = [row | {"launch": 2, "kernel": "other"} for row in report.lines]
    table = nsight.lines_table([*report.lines, *second], count=2)
    assert [cells[0] for cells in table.cells()] == ["1: doublify"] * 2 + ["2: other"] * 2


def test_tables_can_be_made_again_from_json(report: nsight.Report) -> None:
    for make, rows in ((nsight.table, report.metrics), (nsight.lines_table, report.lines)):
        again = make(json.loads(json.dumps(rows)))
        assert again.cells() == make(rows).cells() != []


def test_the_roofline_has_a_point_for_each_launch(report: nsight.Report) -> None:
    drawn = nsight.figure(report.metrics, "a title")
    assert drawn.get_suptitle() == "a title"
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["doublify, 53 % of its roof"]
    (row,) = [row for row in report.metrics if row["metric"] == "roofline"]
    point = drawn.axes[0].lines[-1]
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (row["flop_per_byte"], row["flop_per_second"])
    both = nsight.figure([*report.metrics, row | {"launch": 2}], "")
    assert [text.get_text()[:11] for text in both.legends[0].get_texts()] == ["1: doublify", "2: doublify"]


def test_integers_have_no_roofline(report: nsight.Report) -> None:
    integers = with_metric(report, "roofline", flop_per_second=0.0)
    assert values(integers)["roofline"] == "no floating-point arithmetic"
    with pytest.raises(nsight.ReportError, match="no roofline"):
        nsight.figure(integers, "")


def test_the_table_fits_into_eighty_columns(report: nsight.Report) -> None:
    shown = io.StringIO()
    Console(width=80, file=shown, markup=False).print(nsight.table(report.metrics))
    assert "long_scoreboard" in shown.getvalue() and "…" not in shown.getvalue()
