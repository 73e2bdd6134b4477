"""A recorded timeline on a GPU: kernels by name, copies, stages and NVTX ranges."""

import json
from pathlib import Path

import pytest

from fourways import lesson, tables, timeline, timeline_figure, ways

SIZE, LAUNCHES = 2**20, 10
WAYS = [
    pytest.param(way, marks=pytest.mark.skipif(bool(ways.missing(way)), reason=str(ways.missing(way))))
    for way in ("nvrtc", "nvcc", "pycuda", "pybind11")
]


def named(rows: list[tables.Row], kind: str) -> list[str]:
    return [row["name"] for row in rows if row["kind"] == kind]


@pytest.mark.parametrize("way", WAYS)
def test_a_way_of_a_lesson(way: str) -> None:
    rows = timeline.record(lesson.program(lesson.find("1"), way, SIZE, launches=LAUNCHES))
    stages = ["import", "context", "import", "inputs", "build", "launch", "check", "inputs", "launches", "check"]
    stages[2] = "load" if way == "pybind11" else "import"
    assert named(rows, "stage") == stages
    launches = timeline.part(rows, "launches")
    assert named(launches, "kernel") == ["doublify"] * LAUNCHES and "synchronization" in [
        row["kind"] for row in launches
    ]
    launch = next(row for row in launches if row["kind"] == "kernel")
    assert launch["grid"][0] > 1 and launch["block"] == [256, 1, 1] and launch["registers"] > 0
    copies = [(row["name"], row["bytes"]) for row in rows if row["kind"] == "copy"]
    assert ("host to device", 4 * SIZE) in copies and ("device to host", 4 * SIZE) in copies
    assert json.loads(timeline.trace_json(rows))["traceEvents"] and len(timeline_figure.figure(rows).axes) == 2


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
    rows = timeline.record(program, "5")
    assert named(timeline.part(rows, "work"), "kernel") == ["mine"] * 5
    names = named(timeline.part(rows, "maximum"), "kernel")
    assert names and not any(name.startswith("_Z") for name in names), "readable"
    with pytest.raises(timeline.TimelineError, match=r"^program.py: .*IndexError: .*$"):
        timeline.record(program)
