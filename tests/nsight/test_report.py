"""A stored report of Nsight Compute (doublify by NVRTC, 2^26 elements, an H200) is read into metrics and lines."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from fourways import kernels, nsight, tables

STORED = Path(__file__).parents[1] / "data" / "doublify.ncu-rep"
SIZE = 2**26
WARPS = SIZE // 32


@pytest.fixture(scope="module")
def report() -> nsight.Report:
    return nsight.read(STORED)


@pytest.fixture(scope="module")
def metrics(report: nsight.Report) -> dict[str, tables.Row]:
    return {row["metric"]: row for row in report.metrics}


def test_ten_metrics_of_one_launch(report: nsight.Report, metrics: dict[str, tables.Row]) -> None:
    assert len(report.metrics) == len(metrics) == 10
    assert {(row["launch"], row["kernel"], row["device"]) for row in report.metrics} == {(1, "doublify", "NVIDIA H200")}


def test_time_and_traffic_are_those_of_the_kernel(metrics: dict[str, tables.Row]) -> None:
    assert metrics["duration"]["clock"] == "device"
    duration = metrics["duration"]["seconds"]
    assert 100e-6 < duration < 400e-6
    moved = metrics["dram"]["bytes_per_second"] * duration
    assert 0.9 * 8 * SIZE < moved < 1.05 * 8 * SIZE  # the last of what was written may still lie in L2
    assert metrics["dram"]["peak_bytes_per_second"] == pytest.approx(4.8e12, rel=0.02)  # H200 data sheet


def test_counts_follow_from_the_source(metrics: dict[str, tables.Row]) -> None:
    assert (metrics["sectors"]["loads"], metrics["sectors"]["stores"]) == (4, 4)
    assert metrics["bank conflicts"]["count"] == metrics["bank conflicts"]["rounds"] == 0
    assert 8 <= metrics["registers"]["count"] <= 32
    assert metrics["instructions"]["count"] % WARPS == 0  # all warps do the same
    kinds = metrics["instructions"]["shares"]
    assert sum(kinds.values()) == pytest.approx(1)
    each = metrics["instructions"]["count"] / WARPS
    assert kinds["global"] * each == pytest.approx(2)  # a load and a store
    assert kinds["fp32"] * each == pytest.approx(1)  # 2 * x
    assert 50 < metrics["occupancy"]["percent"] <= metrics["occupancy"]["possible_percent"] == 100
    assert metrics["l2"]["read_hit_percent"] < 1 < metrics["l2"]["hit_percent"]


def test_the_top_stall_is_waiting_for_memory(metrics: dict[str, tables.Row]) -> None:
    shares = metrics["stalls"]["shares"]
    assert next(iter(shares)) == "long_scoreboard"
    assert sum(shares.values()) == pytest.approx(1)


def test_the_roofline_counts_one_operation_an_element(metrics: dict[str, tables.Row]) -> None:
    row = metrics["roofline"]
    assert row["precision"] == "fp32"
    assert row["flop_per_second"] * metrics["duration"]["seconds"] == pytest.approx(SIZE)
    assert row["flop_per_byte"] == pytest.approx(1 / 8, rel=0.1)
    assert row["peak_flop_per_second"] == pytest.approx(66e12, rel=0.1)  # H200 data sheet: 67 TFLOP/s


class Launch(dict[str, float]):
    """A launch in a report, by counters alone."""

    def __getitem__(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(as_double=lambda: float(self.get(name)), has_correlation_ids=lambda: False)

    def name(self) -> str:
        return "mine"

    def metric_names(self) -> list[str]:
        return list(self)

    def source_files(self) -> dict[str, str]:
        return {}


def metric_of(counters: dict[str, float], metric: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tables.Row:
    class Launches(list):
        num_ranges = num_actions = list.__len__

    loaded = Launches([Launches([Launch(counters)])])
    monkeypatch.setitem(sys.modules, "ncu_report", SimpleNamespace(load_report=lambda path: loaded))
    (tmp_path / "mine.ncu-rep").touch()
    (row,) = [row for row in nsight.read(tmp_path / "mine.ncu-rep").metrics if row["metric"] == metric]
    return row


def test_bank_conflicts_are_the_rounds_that_were_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a counter that knows waits of other kinds as conflicts, too."""
    counts = {"memory_l1_wavefronts_shared": 950_272, "memory_l1_wavefronts_shared_ideal": 950_272}
    others = {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": 183_891}
    row = metric_of(counts | others, "bank conflicts", tmp_path, monkeypatch)
    assert (row["count"], row["rounds"]) == (0, 950_272)
    counts["memory_l1_wavefronts_shared"] *= 32
    assert metric_of(counts, "bank conflicts", tmp_path, monkeypatch)["count"] == 31 * 950_272
    assert metric_of(others, "bank conflicts", tmp_path, monkeypatch)["count"] is None


def roofline_of(counters: dict[str, float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tables.Row:
    return metric_of(counters, "roofline", tmp_path, monkeypatch)


def test_operations_are_counted_in_both_spellings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--metrics` has sums, `--set full` the same per cycle; an fp16 instruction works on two numbers."""
    counts = {"fadd": 10, "fmul": 20, "ffma": 30, "dadd": 1, "dmul": 1, "dfma": 1, "hadd": 5, "hmul": 5, "hfma": 30}
    sums = {f"smsp__sass_thread_inst_executed_op_{name}_pred_on.sum": n for name, n in counts.items()}
    known = {f"sm__sass_thread_inst_executed_op_{p}fma_pred_on.sum.peak_sustained": 100 for p in "fdh"}
    known |= {"sm__cycles_elapsed.avg.per_second": 1e9, "gpu__time_duration.sum": 2e9}  # nanoseconds
    known |= {"dram__bytes_read.sum": 200, "dram__bytes_write.sum": 80}
    row = roofline_of(sums | known, tmp_path, monkeypatch)
    assert row["precision"] == "fp16"
    assert row["flop_per_second"] == pytest.approx(2 * (5 + 5 + 2 * 30) / 2)
    assert row["flop_per_byte"] == 0.5
    assert row["peak_flop_per_second"] == 2 * 2 * 100 * 1e9
    per_cycle = {f"{name}.per_cycle_elapsed": n / 8 for name, n in sums.items()} | {"smsp__cycles_elapsed.avg": 8}
    assert roofline_of(per_cycle | known, tmp_path, monkeypatch) == row
    assert roofline_of(known, tmp_path, monkeypatch)["flop_per_second"] is None


def test_what_is_asked_of_nsight_compute_is_what_is_read(report: nsight.Report) -> None:
    """The stored report was made with these options: no value is missing in it."""
    assert None not in [value for row in report.metrics for value in row.values()]
    *sections, option, counters = nsight.options()
    assert option == "--metrics" and "gpu__time_duration.sum" in counters.split(",")
    assert len(set(counters.split(","))) == len(counters.split(","))
    assert set(sections[::2]) == {"--section"} and "SourceCounters" in sections


def test_source_lines_of_a_kernel_compiled_at_run_time(report: nsight.Report) -> None:
    source = kernels.source("doublify").splitlines()
    assert report.lines[0]["text"] == "y[i] = FACTOR * x[i];"
    assert report.lines[0]["stall"] == "long_scoreboard"
    for row in report.lines:
        assert row["text"] == source[row["line"] - 1].strip()
    for share in ("sample_share", "instruction_share"):
        assert sum(row[share] for row in report.lines) == pytest.approx(1)
    shares = [row["sample_share"] for row in report.lines]
    assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize(("content", "message"), [(None, "no file"), ("no report", "holds no kernel")])
def test_what_is_no_report(tmp_path: Path, content: str | None, message: str) -> None:
    path = tmp_path / "mine.ncu-rep"
    if content:
        path.write_text(content)
    with pytest.raises(nsight.ReportError, match=message):
        nsight.read(path)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ncu_report", None)
    with pytest.raises(nsight.ReportError, match="pip install ncu-report"):
        nsight.read(STORED)


FIGURES = kernels.root() / "book" / "figures"
RECORDED = kernels.root() / "book" / "recorded" / "07_profiling.ipynb"


@pytest.mark.skipif(not RECORDED.is_file(), reason="lesson 07 is not recorded yet")
def test_the_reports_to_download_are_those_of_the_recorded_run() -> None:
    """Lesson 07 shows metrics and lines of launches; the book offers the reports that they came from."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    outputs = [output for cell in recorded["cells"] for output in cell.get("outputs", [])]
    bundles = [output["data"][tables.MIME] for output in outputs if tables.MIME in output.get("data", {})]
    shown = [row for bundle in bundles for row in bundle["rows"] if row.get("kernel") in ("colmeans", "iterate")]
    reports = {kernel: nsight.read(FIGURES / f"{kernel}.ncu-rep") for kernel in {row["kernel"] for row in shown}}
    assert {row["launch"] for row in shown if row["kernel"] == "colmeans"} == {1, 2}
    for row in shown:
        assert row in reports[row["kernel"]].metrics or row in reports[row["kernel"]].lines
