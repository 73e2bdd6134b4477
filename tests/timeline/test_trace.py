"""A timeline's rows as tables, as a part of themselves, and as a trace for Perfetto."""

import json

import pytest

from fourways import tables, timeline


def test_the_table_sums_up_the_gpus_work_by_name(rows: list[tables.Row]) -> None:
    table = timeline.table(rows)
    found = {row["name"]: row for row in table.rows}
    assert list(found)[:3] == ["host to device", "device to host", "doublify"], "the longest first"
    doublify = found["doublify"]
    assert doublify["seconds"]["samples"] == 10 and doublify["clock"] == "device"
    assert doublify["total_seconds"] == pytest.approx(1.28e-3)
    assert doublify["share"] == pytest.approx(1.28e-3 / 61.28e-3)
    assert found["during warm launches"]["seconds"]["median"] == pytest.approx(2e-6)
    assert found["during warm launches"]["share"] == pytest.approx(18e-6 / 1.298e-3)
    assert found["between first and last work"]["share"] == pytest.approx(1 - 61.28e-3 / 0.2325)
    assert "doublify" in str(table) and "2.1% of busy time" in str(table)


def kernel(name: str, start: float, seconds: float) -> tables.Row:
    return {"kind": "kernel", "name": name, "clock": "device", "start_seconds": start, "seconds": seconds, "stream": 7}


def test_work_on_two_streams_at_once_is_busy_once() -> None:
    rows = [kernel("a", 0.0, 2.0), kernel("b", 1.0, 2.0), kernel("c", 4.0, 1.0)]
    found = {row["name"]: row for row in timeline.table(rows).rows}
    assert found["a"]["share"] == 0.5, "2 of 4 busy seconds"
    assert found["between first and last work"]["total_seconds"] == 1.0
    assert "during warm launches" not in found


def test_a_part_starts_with_its_range(rows: list[tables.Row]) -> None:
    found = timeline.part(rows, "warm launches")
    assert (found[0]["name"], found[0]["start_seconds"]) == ("warm launches", 0.0)
    assert [row["name"] for row in found if row["clock"] == "device"] == ["doublify"] * 10
    assert found[-1]["start_seconds"] < 0.0015, "what starts after the range is no part of it"
    assert 0.9099 in [row["start_seconds"] for row in rows], "the rows given stay as they are"
    assert timeline.part(rows, "no such range") == []


def test_the_trace_has_a_lane_for_each_stream_and_thread(rows: list[tables.Row]) -> None:
    trace = json.loads(timeline.trace_json(rows))
    named = {(e["pid"], e.get("tid")): e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M"}
    drawn = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert len(drawn) == len(rows) and {event["ph"] for event in trace["traceEvents"]} == {"M", "X"}
    assert all({"name", "cat", "ts", "dur", "pid", "tid", "args"} <= set(event) for event in drawn)
    places = {(named[e["pid"], None], named[e["pid"], e["tid"]]) for e in drawn}
    host = {("host", "NVTX ranges"), ("host", "API calls, thread 0"), ("host", "synchronizations")}
    assert places == {("GPU", "stream 7"), *host}
    kernel = next(event for event in drawn if event["cat"] == "kernel")
    assert (kernel["name"], kernel["ts"], kernel["dur"]) == ("doublify", 910000.0, 128.0), "microseconds"
    assert kernel["args"]["grid"] == [262144, 1, 1]
