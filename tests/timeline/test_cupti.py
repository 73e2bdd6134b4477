"""CUPTI's records become rows: programs leave records in a fresh process, and `of_program` returns their rows."""

import json
from pathlib import Path

import pytest

from fourways import tables, timeline

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
    return timeline.of_program(folder / "program.py")


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
    assert len(json.loads(timeline.trace_json(found))["traceEvents"]) >= len(found)


def test_a_record_that_cannot_be_read_is_no_row_left_out(recording: Path) -> None:
    """CUPTI swallows what its callback raises: it is said at the end."""
    problem = "program.py: the recorded process failed:\nAttributeError: .*'registers_per_thread'"
    with pytest.raises(timeline.TimelineError, match=problem):
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
