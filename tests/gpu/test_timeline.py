"""A recorded timeline on a GPU: kernels by name, copies, NVTX ranges; as long as the timer says."""

import json
from pathlib import Path

import pytest

from fourways import lesson, tables, timeline, timeline_figure, timing, toolchain

SIZE, LAUNCHES = 2**26, 10
WAYS = [
    pytest.param(way, marks=pytest.mark.skipif(bool(toolchain.missing(way)), reason=str(toolchain.missing(way))))
    for way in ("nvrtc", "nvcc", "pycuda", "pybind11")
]


@pytest.fixture(scope="module")
def recorded() -> list[tables.Row]:
    return timeline.record(lesson.find("1"), "nvrtc", SIZE, LAUNCHES)


def test_stages_kernels_and_copies_are_there(recorded: list[tables.Row]) -> None:
    ranges = {row["name"]: timeline.span(row) for row in recorded if row["kind"] == "NVTX range"}
    stages = ["context", "inputs", "build", "first launch", "warm launches", "copy back"]
    assert [name for name in ranges if name in stages] == stages
    warm = timeline.within(timeline.gpu_work(recorded), ranges["warm launches"])
    assert [row["name"] for row in warm] == ["doublify"] * LAUNCHES
    assert warm[0]["grid"] == [SIZE // 256, 1, 1] and warm[0]["block"] == [256, 1, 1] and warm[0]["registers"] > 0
    copies = [(row["name"], row["bytes"]) for row in recorded if row["kind"] == "copy"]
    assert ("host to device", 4 * SIZE) in copies and copies[-1] == ("device to host", 4 * SIZE)
    assert any(row["kind"] == "synchronization" for row in timeline.within(recorded, ranges["warm launches"]))


def test_kernels_take_as_long_as_the_timer_says(recorded: list[tables.Row]) -> None:
    found = next(row for row in timeline.summed_up(recorded) if row["name"] == "doublify")
    timed = timing.time_way(lesson.load(lesson.find("1")), "nvrtc", SIZE)
    assert found["seconds"]["median"] == pytest.approx(timed["seconds"]["median"], rel=0.2)


@pytest.mark.parametrize("way", WAYS)
def test_every_way_has_a_timeline(way: str) -> None:
    rows = timeline.record(lesson.find("1"), way, size=2**16, launches=3)
    assert sum(row["name"].startswith("doublify") for row in timeline.gpu_work(rows)) == 4
    launches = [row["name"] for row in rows if row["kind"] == "API call" and "LaunchKernel" in row["name"]]
    assert len(launches) >= 4
    assert json.loads(timeline.trace_json(rows))["traceEvents"] and timeline_figure.figure(rows).axes


def test_a_whole_lesson_has_a_range_for_each_cell() -> None:
    rows = timeline.record(lesson.find("0"), None)
    named = [row["name"] for row in rows if row["kind"] == "NVTX range" and row["name"].startswith("cell ")]
    code_cells = [cell for cell in lesson.find("0").notebook.cells if cell.cell_type == "code"]
    assert 0 < len(named) <= len(code_cells)
    assert timeline.table(rows).rows and timeline_figure.figure(rows).axes


def test_a_program_of_ones_own(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\nimport cupy\nfrom cupyx.profiler import time_range\n"
        "kernel = cupy.RawKernel('extern \"C\" __global__ void mine(float *x) { x[threadIdx.x] += 1; }', 'mine')\n"
        "x = cupy.zeros(32, cupy.float32)\n"
        "count = int(sys.argv[1])\n"
        "with time_range('work', sync=True):\n    for _ in range(count):\n        kernel((1,), (32,), (x,))\n"
        "with time_range('maximum', sync=True):\n    x.max()\n"
    )
    rows = timeline.record_program(program, "5")
    work = timeline.part(rows, "work")
    assert [row["name"] for row in timeline.gpu_work(work)] == ["mine"] * 5
    kernels = [row for row in timeline.part(rows, "maximum") if row["kind"] == "kernel"]
    assert kernels and not any(row["name"].startswith("_Z") for row in kernels), "readable"
    with pytest.raises(timeline.TimelineError, match=r"program.py: the recorded process failed:\nIndexError"):
        timeline.record_program(program)
