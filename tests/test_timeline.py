"""Timelines: CUPTI's records of fresh processes become rows, which are summed up, drawn and exported.

CUPTI is a stand-in: it reports what the recorded program tells it to.
"""

from pathlib import Path

import pytest

from fourways import tables, timeline, toolchain

CUPTI = """
import itertools
import pkgutil
from types import SimpleNamespace

__path__ = pkgutil.extend_path(__path__, __name__)
from cupti import cupti  # the real one, whose own functions need a driver

records, clock = [], itertools.count(1_795_252_551_729_141_990, 1000)  # ns


def record(kind, **fields):
    records.append(SimpleNamespace(kind=int(cupti.ActivityKind[kind]), **fields))


def took(kind, **fields):
    record(kind, start=next(clock), end=next(clock), **fields)


def kernel(name, **fields):
    grid_and_block = {f"{what}_{axis}": 2 for what in ("grid", "block") for axis in "xyz"}
    took("CONCURRENT_KERNEL", name=name, stream_id=7, registers_per_thread=16, **grid_and_block, **fields)


names = {("RUNTIME_API", 1): "cudaFree_v3020", ("DRIVER_API", 307): "cuLaunchKernel"}
cupti.get_timestamp = lambda: next(clock)
cupti.activity_enable = lambda kind: None
cupti.activity_register_callbacks = lambda request, take: setattr(cupti, "take", take)
cupti.activity_flush_all = lambda flag: cupti.take(records)
cupti.get_callback_name = lambda domain, number: names[domain.name, number]
"""


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder from which fresh processes import first. What they `record` there, CUPTI seems to have seen."""
    pytest.importorskip("cupti.cupti", reason="cupti-python is not installed: make setup")
    (tmp_path / "cupti").mkdir()
    (tmp_path / "cupti" / "__init__.py").write_text(CUPTI)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(toolchain, "missing", lambda need: "not here" if need == "nvcc" else None)
    return tmp_path


RECORDS = """
from cupti import cupti, record

FIRST = 1_795_252_551_729_141_990
START = int(cupti.ActivityFlag.MARKER_START)
record("MARKER", flags_=START, id=1, timestamp=FIRST, name="outer")
record("MARKER", flags_=START, id=2, timestamp=FIRST + 10, name="inner")
record("MARKER", flags_=START, id=3, timestamp=FIRST + 11, name="never ends")
record("MARKER", flags_=int(cupti.ActivityFlag.MARKER_INSTANTANEOUS), id=4, timestamp=FIRST + 12, name="mark")
record("MARKER", flags_=4, id=2, timestamp=FIRST + 20)
record("MARKER", flags_=4, id=1, timestamp=FIRST + 900)
record("DRIVER", start=FIRST + 30, end=FIRST + 40, cbid=307, thread_id=896004416)
record("RUNTIME", start=FIRST + 25, end=FIRST + 28, cbid=1, thread_id=77)
record("MEMCPY", start=FIRST + 26, end=FIRST + 27, stream_id=7, bytes=4000, copy_kind=2)
record("MEMSET", start=FIRST + 28, end=FIRST + 29, stream_id=7, bytes=64)
launch = {f"{what}_{axis}": 2 for what in ("grid", "block") for axis in "xyz"}
launch |= {"stream_id": 7, "name": "f", "registers_per_thread": 16}
record("CONCURRENT_KERNEL", start=FIRST + 50, end=FIRST + 90, **launch)
record("GRAPH_TRACE", start=FIRST + 100, end=FIRST + 120, stream_id=13, graph_id=2)
record("SYNCHRONIZATION", start=FIRST + 91, end=FIRST + 99, type=3)
"""


def rows_of(folder: Path, program: str) -> list[tables.Row]:
    (folder / "program.py").write_text(program)
    return timeline.record(folder / "program.py")


def test_records_become_rows_in_order_of_time(recording: Path) -> None:
    found = rows_of(recording, RECORDS)
    nanoseconds = [(row["name"], round(row["start_seconds"] * 1e9), round(row["seconds"] * 1e9)) for row in found]
    assert nanoseconds == [
        ("outer", 0, 900),
        ("inner", 10, 10),
        ("cudaFree", 25, 3),
        ("device to host", 26, 1),
        ("memset", 28, 1),
        ("cuLaunchKernel", 30, 10),
        ("f", 50, 40),
        ("stream synchronize", 91, 8),
        ("graph 2", 100, 20),
    ]
    by_name = {row["name"]: row for row in found}
    assert {row["kind"] for row in found if row["clock"] == "device"} == {"kernel", "copy", "memset", "graph"}
    assert by_name["f"]["grid"] == by_name["f"]["block"] == [2, 2, 2]
    assert (by_name["f"]["registers"], by_name["f"]["symbol"], by_name["f"]["stream"]) == (16, "f", 7)
    assert (by_name["cudaFree"]["thread"], by_name["cuLaunchKernel"]["thread"]) == (0, 1), "as they come"
    assert by_name["device to host"]["bytes"] == 4000
    assert all(set(row) >= {"kind", "name", "clock", "start_seconds", "seconds"} for row in found)
    assert not {"id", "start", "end"} & set().union(*found)


def test_a_record_that_cannot_be_read_is_no_row_left_out(recording: Path) -> None:
    """CUPTI swallows what its callback raises: it is said at the end."""
    problem = "^program.py: .*AttributeError: .*'registers_per_thread'"
    with pytest.raises(RuntimeError, match=problem):
        rows_of(recording, RECORDS.replace(', "registers_per_thread": 16', ""))


CUB = (
    "_ZN3cub43CUB_300102_SM_750_800_860_890_900_1000_12006detail6reduce28DeviceReduceSingleTileKernelINS2_10policy_hub"
    "Ifj16nan_handling_maxIfEE10Policy1000EPfS9_jS6_ffN4cuda3std3__48identityEEEvT0_T1_T2_T3_T4_T6_"
)  # of `cupy.max`, as CUPTI names it
NAMES = {
    "doublify": "doublify",
    CUB: "cub::DeviceReduceSingleTileKernel",
    "_Z5saxpyIfEvT_PKS0_PS0_i": "saxpy<float>",
    "_Z5scaleIfLi4EEvPT_": "scale<float, 4>",
    "_ZN12_GLOBAL__N_14mineEPf": "mine",
    "_ZN4mine5innerEPf": "mine::inner",
    "_ZN4mine5outer5innerIN4mine5thingEEEvT_": "mine::inner",
    "_Zno such thing": "_Zno such thing",
    "": "",
}


def test_kernels_have_readable_names_beside_their_symbols(recording: Path) -> None:
    found = rows_of(recording, f"from cupti import kernel\nfor symbol in {list(NAMES)}:\n    kernel(symbol)\n")
    assert {row["symbol"]: row["name"] for row in found} == NAMES


def test_stages_and_arguments_of_a_program(recording: Path) -> None:
    text = "import sys\nfrom cupti import kernel\n# launch\nkernel(sys.argv[1])\n# launches\nkernel('b'); kernel('c')\n"
    rows = timeline.record(text + "if __name__ == '__main__':\n    sys.exit(0)\n", "a")
    assert [(row["kind"], row["name"]) for row in rows] == [
        ("stage", "launch"),
        ("kernel", "a"),
        ("stage", "launches"),
        ("kernel", "b"),
        ("kernel", "c"),
    ]


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("import sys; sys.exit('no luck')", "no luck"),
        ("x = 1 / 0", "ZeroDivisionError: division by zero"),
        ("pass", "CUPTI recorded no work on the GPU"),
    ],
)
def test_a_program_that_fails(program: str, why: str, recording: Path) -> None:
    with pytest.raises(RuntimeError, match=f"^program.py: (a fresh process failed: )?{why}$"):
        timeline.record(program)


def test_without_a_gpu_or_cupti(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", lambda need: None)
    monkeypatch.setattr(toolchain, "installed", lambda module: False)
    with pytest.raises(RuntimeError, match="pip install cupti-python"):
        timeline.record("pass")
    monkeypatch.setattr(toolchain, "missing", lambda need: "no NVIDIA driver")
    with pytest.raises(RuntimeError, match="no timeline: no NVIDIA driver"):
        timeline.record("pass")


def row(kind: str, name: str, start: float, seconds: float, **more: object) -> tables.Row:
    clock = "device" if kind in ("kernel", "copy") else "host"
    more |= {"stream": 7} if clock == "device" else {}
    return {"kind": kind, "name": name, "clock": clock, "start_seconds": start, "seconds": seconds, **more}


@pytest.fixture
def rows() -> list[tables.Row]:
    """Synthetic: written by hand, in the order of size that an H200 shows; no run of anything."""
    launch = {"grid": [262144, 1, 1], "block": [256, 1, 1], "registers": 16}
    kernels = [row("kernel", "doublify", 0.91 + i * 130e-6, 128e-6, **launch) for i in range(10)]
    return [
        row("stage", "import", 0.1, 0.3),
        row("stage", "context", 0.4, 0.07),
        row("stage", "import", 0.48, 0.02),
        row("stage", "inputs", 0.5, 0.35),
        row("copy", "host to device", 0.7, 0.04, bytes=2**28),
        row("stage", "build", 0.85, 0.05),
        row("NVTX range", "load", 0.88, 0.01),
        row("stage", "launches", 0.9099, 0.0015),
        *[row("API call", "cuLaunchKernel", 0.9099 + i * 6e-6, 4e-6, thread=0) for i in range(10)],
        row("API call", "cudaDeviceSynchronize", 0.91001, 0.0014, thread=0),
        row("synchronization", "context synchronize", 0.91002, 0.0013),
        *kernels,
        row("stage", "copy back", 0.912, 0.03),
        row("copy", "device to host", 0.9125, 0.02, bytes=2**28),
    ]


def test_the_table_sums_up_the_gpus_work_by_name(rows: list[tables.Row]) -> None:
    table = timeline.table(rows)
    found = {row["name"]: row for row in table.rows}
    assert list(found)[:3] == ["host to device", "device to host", "doublify"], "the longest first"
    doublify = found["doublify"]
    assert doublify["seconds"]["samples"] == 10 and doublify["clock"] == "device"
    assert doublify["total_seconds"] == pytest.approx(1.28e-3)
    assert doublify["share"] == pytest.approx(1.28e-3 / 61.28e-3)
    assert found["between first and last work"]["share"] == pytest.approx(1 - 61.28e-3 / 0.2325)
    assert "doublify" in str(table) and "2.1% of busy time" in str(table)


def kernel(name: str, start: float, seconds: float) -> tables.Row:
    return {"kind": "kernel", "name": name, "clock": "device", "start_seconds": start, "seconds": seconds, "stream": 7}


def test_work_on_two_streams_at_once_is_busy_once() -> None:
    rows = [kernel("a", 0.0, 2.0), kernel("b", 1.0, 2.0), kernel("c", 4.0, 1.0)]
    found = {row["name"]: row for row in timeline.table(rows).rows}
    assert found["a"]["share"] == 0.5, "2 of 4 busy seconds"
    assert found["between first and last work"]["total_seconds"] == 1.0
