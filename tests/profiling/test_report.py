"""A stored report of Nsight Compute (doublify by NVRTC, 2^26 elements, an H200): read, explained, drawn."""

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from fourways import cli_profile, counters, kernels, reports, tables

STORED = Path(__file__).with_name("data") / "doublify.ncu-rep"
SIZE = 2**26
WARPS = SIZE // 32


@pytest.fixture(scope="module")
def report() -> counters.Report:
    return counters.read(STORED)


@pytest.fixture(scope="module")
def figures(report: counters.Report) -> dict[str, tables.Row]:
    return {row["figure"]: row for row in report.figures}


def test_ten_figures_of_one_launch(report: counters.Report) -> None:
    assert [row["figure"] for row in report.figures] == list(reports.FIGURES)
    assert len(report.figures) == 10
    assert {(row["launch"], row["kernel"], row["device"]) for row in report.figures} == {(1, "doublify", "NVIDIA H200")}


def test_time_and_traffic_are_those_of_the_kernel(figures: dict[str, tables.Row]) -> None:
    assert figures["duration"]["clock"] == "device"
    duration = figures["duration"]["seconds"]
    assert 100e-6 < duration < 400e-6
    moved = figures["dram"]["bytes_per_second"] * duration
    assert 0.9 * 8 * SIZE < moved < 1.05 * 8 * SIZE  # the last of what was written may still lie in L2
    assert figures["dram"]["peak_bytes_per_second"] == pytest.approx(4.8e12, rel=0.02)  # H200 data sheet


def test_counts_follow_from_the_source(figures: dict[str, tables.Row]) -> None:
    assert (figures["sectors"]["loads"], figures["sectors"]["stores"]) == (4, 4)
    assert figures["bank conflicts"]["count"] == 0
    assert 8 <= figures["registers"]["count"] <= 32
    assert figures["instructions"]["count"] % WARPS == 0  # all warps do the same
    kinds = figures["instructions"]["shares"]
    assert sum(kinds.values()) == pytest.approx(1)
    each = figures["instructions"]["count"] / WARPS
    assert kinds["global"] * each == pytest.approx(2)  # a load and a store
    assert kinds["fp32"] * each == pytest.approx(1)  # 2 * x
    assert 50 < figures["occupancy"]["percent"] <= figures["occupancy"]["possible_percent"] == 100
    assert figures["l2"]["read_hit_percent"] < 1 < figures["l2"]["hit_percent"]


def test_the_top_stall_is_waiting_for_memory(figures: dict[str, tables.Row]) -> None:
    shares = figures["stalls"]["shares"]
    assert next(iter(shares)) == "long_scoreboard"
    assert sum(shares.values()) == pytest.approx(1)
    assert set(shares) <= {*reports.STALLS, "selected"}


def test_the_roofline_counts_one_operation_an_element(figures: dict[str, tables.Row]) -> None:
    row = figures["roofline"]
    assert row["precision"] == "fp32"
    assert row["flop_per_second"] * figures["duration"]["seconds"] == pytest.approx(SIZE)
    assert row["flop_per_byte"] == pytest.approx(1 / 8, rel=0.1)
    assert row["peak_flop_per_second"] == pytest.approx(66e12, rel=0.1)  # H200 data sheet: 67 TFLOP/s
    assert reports.roof(row) == row["flop_per_byte"] * row["peak_bytes_per_second"]


class Metric(float):
    as_double = float.__float__


def test_operations_are_counted_in_both_spellings() -> None:
    """`--metrics` has sums, `--set full` the same per cycle; an fp16 instruction works on two numbers."""
    counts = {"fadd": 10, "fmul": 20, "ffma": 30, "dadd": 1, "dmul": 1, "dfma": 1, "hadd": 5, "hmul": 5, "hfma": 30}
    sums = {f"smsp__sass_thread_inst_executed_op_{name}_pred_on.sum": Metric(n) for name, n in counts.items()}
    peaks = {f"sm__sass_thread_inst_executed_op_{p}fma_pred_on.sum.peak_sustained": Metric(100) for p in "fdh"}
    peaks["sm__cycles_elapsed.avg.per_second"] = Metric(1e9)
    row = counters._roofline(sums | peaks, duration=2.0, moved=280.0)
    assert row["precision"] == "fp16"
    assert row["flop_per_second"] == 2 * (5 + 5 + 2 * 30) / 2
    assert row["flop_per_byte"] == 0.5
    assert row["peak_flop_per_second"] == 2 * 2 * 100 * 1e9
    per_cycle = {f"{name}.per_cycle_elapsed": Metric(n / 8) for name, n in sums.items()}
    per_cycle["smsp__cycles_elapsed.avg"] = Metric(8)
    assert counters._roofline(per_cycle | peaks, duration=2.0, moved=280.0) == row
    assert counters._roofline(peaks, duration=2.0, moved=280.0)["flop_per_second"] is None


def test_source_lines_of_a_kernel_compiled_at_run_time(report: counters.Report) -> None:
    source = kernels.source("doublify").splitlines()
    assert report.lines[0]["text"] == "y[i] = FACTOR * x[i];"
    assert report.lines[0]["stall"] == "long_scoreboard"
    for row in report.lines:
        assert row["text"] == source[row["line"] - 1].strip()
    for share in ("sample_share", "instruction_share"):
        assert sum(row[share] for row in report.lines) == pytest.approx(1)
    shares = [row["sample_share"] for row in report.lines]
    assert shares == sorted(shares, reverse=True)


def test_tables_can_be_made_again_from_json(report: counters.Report) -> None:
    for make, rows in ((reports.table, report.figures), (reports.lines_table, report.lines)):
        again = make(json.loads(json.dumps(rows)))
        assert str(again) == str(make(rows))
        assert again.cells()


def test_the_table_says_what_the_top_stall_means(report: counters.Report) -> None:
    text = str(reports.table(report.figures))
    assert "data from global or local memory" in text
    assert "loads 4, stores 4" in text
    assert "of the memory roof" in text
    assert "doublify on NVIDIA H200" in text


def test_what_a_report_lacks_is_said(report: counters.Report) -> None:
    empty = {"seconds": None, "bytes_per_second": None, "hit_percent": None, "percent": None, "count": None}
    empty |= {"shares": None, "flop_per_second": None, "loads": None, "stores": None}
    rows = [{**row, **{key: None for key in empty if key in row}} for row in report.figures]
    values = {cells[0]: cells[1] for cells in reports.table(rows).cells()}
    assert values.pop("sectors a request") == "none"
    assert set(values.values()) == {"not in this report"}
    without = [row | {"text": ""} for row in report.lines]
    assert "does not hold it" in reports.lines_table(without).note
    assert "-lineinfo" in reports.lines_table([]).note


def test_several_launches_are_told_apart(report: counters.Report) -> None:
    second = [row | {"launch": 2, "kernel": "other"} for row in report.lines]
    table = reports.lines_table([*report.lines, *second], count=2)
    assert [cells[0] for cells in table.cells()] == ["1: doublify"] * 2 + ["2: other"] * 2


def test_roofline_figure(report: counters.Report, figures: dict[str, tables.Row]) -> None:
    drawn = reports.figure(report.figures, "a title")
    row = figures["roofline"]
    (text,) = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert text == f"doublify, {100 * row['flop_per_second'] / reports.roof(row):.0f} % of its roof"
    svg = io.StringIO()
    drawn.savefig(svg, format="svg")
    assert "a title" in svg.getvalue()
    integers = [row | ({"flop_per_second": 0.0} if row["figure"] == "roofline" else {}) for row in report.figures]
    with pytest.raises(counters.ReportError, match="no roofline"):
        reports.figure(integers, "")
    assert reports.table(integers).cells()[-1][1] == "no floating-point arithmetic"


@pytest.mark.parametrize(("content", "message"), [(None, "no file"), ("no report", "holds no kernel")])
def test_what_is_no_report(tmp_path: Path, content: str | None, message: str) -> None:
    path = tmp_path / "mine.ncu-rep"
    if content:
        path.write_text(content)
    with pytest.raises(counters.ReportError, match=message):
        counters.read(path)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ncu_report", None)
    with pytest.raises(counters.ReportError, match="pip install ncu-report"):
        counters.read(STORED)


def command(*arguments: Any) -> Any:
    app = typer.Typer()
    app.command()(cli_profile.profile)
    return CliRunner(env={"COLUMNS": "120"}).invoke(app, list(map(str, arguments)))


def test_command_prints_a_report_and_writes_what_is_asked(tmp_path: Path) -> None:
    rows, svg = tmp_path / "rows.json", tmp_path / "roof.svg"
    result = command(STORED, "--json", rows, "--figure", svg)
    assert result.exit_code == 0, result.output
    assert "y[i] = FACTOR * x[i];" in result.output
    found = json.loads(rows.read_text())["tables"]
    assert len(found["profile"]) == 10
    assert found["profile_lines"][0]["text"] == "y[i] = FACTOR * x[i];"
    assert "<svg" in svg.read_text()


def test_command_fits_into_eighty_columns(report: counters.Report) -> None:
    console = Console(width=80, file=io.StringIO(), markup=False)
    console.print(reports.table(report.figures))
    assert "…" not in console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["1", "--way", "host"], "choose from nvrtc"),
        (["1", "--size", "many"], "is no size"),
        (["1", "--size", "2^10:2^12"], "--size"),
        (["1", "--clocks", "high"], "choose from base"),
        (["1", "--report", "report.txt"], ".ncu-rep"),
    ],
)
def test_bad_arguments(arguments: list[str], message: str) -> None:
    result = command(*arguments)
    assert result.exit_code == 2
    assert message in result.output


GIVEN = kernels.root() / "book" / "figures" / "colmeans.ncu-rep"
RECORDED = kernels.root() / "book" / "recorded" / "07_profiling.ipynb"


@pytest.mark.skipif(not RECORDED.is_file(), reason="lesson 07 is not recorded yet")
def test_the_report_to_download_is_that_of_the_recorded_run() -> None:
    """Lesson 07 shows figures and lines of its launches; the book offers the report that they came from."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    outputs = [output for cell in recorded["cells"] for output in cell.get("outputs", [])]
    bundles = [output["data"][tables.MIME] for output in outputs if tables.MIME in output.get("data", {})]
    shown = [row for bundle in bundles for row in bundle["rows"] if row.get("kernel") == "colmeans"]
    report = counters.read(GIVEN)
    assert {row["launch"] for row in shown} == {1, 2}
    assert all(row in report.figures or row in report.lines for row in shown)


def test_the_report_to_download_is_small_and_names_no_machine() -> None:
    """As `profiling.anonymous` leaves it."""
    content = GIVEN.read_bytes()
    assert len(content) < 1_000_000
    ours = re.findall(rb"/[\w./-]*(?:colmeans\.cuh|analyse\.py|colmeans\.ncu-rep)", content)
    assert ours and all(path.startswith(b"/four-ways"[: path.find(b"/", 1)]) for path in ours)
    assert not re.search(rb"/(?:home|root|Users)/\w", content)
    hosts = re.findall(rb"(?:x86_64|aarch64)\*[\x01-\x7f]([\w.-]+)0[\x02:]", content)
    assert hosts and all(host.startswith(b"host"[: len(host)]) for host in hosts)
    assert set(re.findall(rb"(?<=[\n\x12][\x07-\x0f])\d+\.\d+\.\d+\.\d+(?=[\x10\x1a])", content)) == {b"127.0.0.1"}
