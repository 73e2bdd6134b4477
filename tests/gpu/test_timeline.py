"""A recorded timeline on a GPU: kernels by name, copies, stages and NVTX ranges."""

from pathlib import Path

import pytest

from fourways import tables, timeline


def named(rows: list[tables.Row], kind: str) -> list[str]:
    return [row["name"] for row in rows if row["kind"] == kind]


def kernels_in(rows: list[tables.Row], name: str) -> list[str]:
    """The kernels that start within the range of this name."""
    (span,) = (row for row in rows if row["name"] == name)
    start, end = span["start_seconds"], span["start_seconds"] + span["seconds"]
    return named([row for row in rows if start <= row["start_seconds"] < end], "kernel")


def test_a_program_of_ones_own(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\nimport cupy\nfrom cupyx.profiler import time_range\n"
        "kernel = cupy.RawKernel('extern \"C\" __global__ void mine(float *x) { x[threadIdx.x] += 1; }', 'mine')\n"
        "x = cupy.zeros(32, cupy.float32)\n"
        "count = int(sys.argv[1])\n"
        "# launch\n"
        "with time_range('work', sync=True):\n    for _ in range(count):\n        kernel((1,), (32,), (x,))\n"
        "with time_range('maximum', sync=True):\n    x.max()\n"
    )
    rows = timeline.record(program, "5")
    assert kernels_in(rows, "work") == ["mine"] * 5
    mine = next(row for row in rows if row["name"] == "mine")
    assert mine["grid"] == [1, 1, 1] and mine["block"] == [32, 1, 1] and mine["registers"] > 0
    assert named(rows, "stage") == ["launch"] and "synchronization" in [row["kind"] for row in rows]
    names = kernels_in(rows, "maximum")
    assert names and not any(name.startswith("_Z") for name in names), "readable"
    with pytest.raises(RuntimeError, match=r"^program.py: .*IndexError: .*$"):
        timeline.record(program)
