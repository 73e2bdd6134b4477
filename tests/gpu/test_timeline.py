"""A recorded timeline on a GPU: kernels by name, copies, NVTX ranges."""

import json
from pathlib import Path

import pytest

from fourways import lesson, tables, timeline, ways

SIZE, LAUNCHES = 2**26, 10  # warm ones
WAYS = [
    pytest.param(way, marks=pytest.mark.skipif(bool(ways.missing(way)), reason=str(ways.missing(way))))
    for way in ("nvrtc", "nvcc", "pycuda", "pybind11")
]


@pytest.fixture(scope="module")
def recorded() -> list[tables.Row]:
    return timeline.of_lesson(lesson.find("1"), "nvrtc", SIZE)


def named(rows: list[tables.Row], kind: str) -> list[str]:
    return [row["name"] for row in rows if row["kind"] == kind]


def test_stages_kernels_and_copies_are_there(recorded: list[tables.Row]) -> None:
    stages = ["import", "context", "import", "inputs", "build", "launch", "warm launches", "copy back"]
    assert [name for name in named(recorded, "NVTX range") if name in stages] == stages
    assert "load" in named(recorded, "NVTX range"), "within another stage"
    warm = timeline.part(recorded, "warm launches")
    assert named(warm, "kernel") == ["doublify"] * LAUNCHES
    launch = next(row for row in warm if row["kind"] == "kernel")
    assert launch["grid"] == [SIZE // 256, 1, 1] and launch["block"] == [256, 1, 1] and launch["registers"] > 0
    assert "synchronization" in [row["kind"] for row in warm]
    copies = [(row["name"], row["bytes"]) for row in recorded if row["kind"] == "copy"]
    assert ("host to device", 4 * SIZE) in copies and copies[-1] == ("device to host", 4 * SIZE)


@pytest.mark.parametrize("way", WAYS)
def test_every_way_has_a_timeline(way: str) -> None:
    rows = timeline.of_lesson(lesson.find("1"), way, size=2**16)
    assert sum(name.startswith("doublify") for name in named(rows, "kernel")) == 1 + LAUNCHES
    launches = [row["name"] for row in rows if row["kind"] == "API call" and "LaunchKernel" in row["name"]]
    assert len(launches) >= 1 + LAUNCHES
    assert json.loads(timeline.trace_json(rows))["traceEvents"] and timeline.figure(rows).axes


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
    rows = timeline.of_program(program, "5")
    assert named(timeline.part(rows, "work"), "kernel") == ["mine"] * 5
    names = named(timeline.part(rows, "maximum"), "kernel")
    assert names and not any(name.startswith("_Z") for name in names), "readable"
    with pytest.raises(timeline.TimelineError, match=r"program.py: the recorded process failed:\nIndexError"):
        timeline.of_program(program)
