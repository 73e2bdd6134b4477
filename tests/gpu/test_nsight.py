"""Nsight Compute on a real GPU: every way's kernel with its source lines; a kernel of one's own; events without it."""

from pathlib import Path

import pytest

from fourways import building, kernels, nsight, ways

SIZE = 2**22
OWN = """
extern "C" __global__ void mine(const float *x, float *y, long long n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 3.f * x[i];
}
"""

THROUGH_SHARED_MEMORY = """
extern "C" __global__ void mine(const float *x, float *y, long long n)
{
    __shared__ float room[8][32 * PITCH];
    volatile float *slot = &room[threadIdx.x / 32][threadIdx.x % 32 * PITCH];
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        *slot = x[i];
        y[i] = *slot;
    }
}
"""


def profiled(target: str, way: str, **options: object) -> nsight.Report:
    if reason := ways.missing(way):
        pytest.skip(reason)
    try:
        return nsight.profile(target, way, SIZE, clocks="none", **options)  # type: ignore[arg-type]
    except nsight.NoCountersError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("way", ["nvrtc", "nvcc", "pycuda", "pybind11"])
def test_every_way_shows_its_source_lines(way: str, tmp_path: Path) -> None:
    kept = tmp_path / "kept.ncu-rep"
    report = profiled("1", way, keep=kept)
    metrics = {row["metric"]: row for row in report.metrics}
    assert {row["kernel"] for row in report.metrics} == {"doublify"}
    assert metrics["duration"]["seconds"] > 0
    assert metrics["roofline"]["flop_per_second"] * metrics["duration"]["seconds"] == pytest.approx(SIZE, rel=1e-3)
    assert (metrics["sectors"]["loads"], metrics["sectors"]["stores"]) == (4, 4)
    values = [value for row in report.metrics for value in row.values()]
    assert None not in values
    source = kernels.source("doublify").splitlines()
    assert "y[i] = FACTOR * x[i];" in [row["text"] for row in report.lines]
    assert all(row["text"] == source[row["line"] - 1].strip() for row in report.lines)
    assert nsight.read(kept) == report


@pytest.mark.parametrize("way", ["nvrtc", "nvcc", "pycuda"])
def test_a_kernel_of_ones_own(way: str, tmp_path: Path) -> None:
    mine = tmp_path / "mine.cu"
    mine.write_text(OWN)
    report = profiled(str(mine), way, entry="mine")
    assert {row["kernel"] for row in report.metrics} == {"mine"}
    assert any("3.f * x[i]" in row["text"] for row in report.lines)


@pytest.mark.parametrize(("pitch", "rounds"), [(32, 64), (33, 2)])
def test_bank_conflicts_are_those_that_the_source_makes(pitch: int, rounds: int, tmp_path: Path) -> None:
    """A warp writes and reads 32 floats of shared memory: all in one bank, or each in a bank of its own."""
    mine = tmp_path / "mine.cu"
    mine.write_text(THROUGH_SHARED_MEMORY.replace("PITCH", str(pitch)))
    (row,) = [row for row in profiled(str(mine), "nvrtc").metrics if row["metric"] == "bank conflicts"]
    assert (row["count"], row["rounds"]) == ((rounds - 2) * SIZE // 32, rounds * SIZE // 32)


def test_a_kernel_that_does_not_compile_leaves_nothing(tmp_path: Path) -> None:
    mine, kept = tmp_path / "mine.cu", tmp_path / "kept.ncu-rep"
    mine.write_text(OWN.replace("3.f", "undefined_name"))
    with pytest.raises(building.BuildError, match="undefined_name"):
        profiled(str(mine), "nvrtc", entry="mine", keep=kept)
    assert not kept.exists()


def test_events_need_no_counters() -> None:
    row = nsight.by_events("1", "nvrtc", SIZE)
    assert row["clock"] == "device"
    assert row["seconds"]["median"] > 0
