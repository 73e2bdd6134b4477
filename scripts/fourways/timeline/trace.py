"""A timeline's rows: work on the GPU, spans and gaps, sums by name, and a trace for Perfetto."""

import itertools
import json
from collections.abc import Sequence
from typing import Any

from fourways.tables import Column, Row, Table, summary

ON_GPU = ("kernel", "copy", "memset", "graph")
"""The kinds of rows that are work on the GPU."""

WARM = "warm launches"
"""The NVTX range of a way's timed launches."""

Span = tuple[float, float]


def trace_json(rows: Sequence[Row]) -> str:
    """Return the rows in Chrome's trace event format for Perfetto: processes for host and GPU, lanes for streams."""
    lanes = {place: tid for tid, place in enumerate(dict.fromkeys(map(_place, rows)), 1)}
    pids = {"host": 1, "GPU": 2}
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}} for name, pid in pids.items()
    ]
    for (process, lane), tid in lanes.items():
        events.append({"ph": "M", "name": "thread_name", "pid": pids[process], "tid": tid, "args": {"name": lane}})
    for row in rows:
        process, lane = _place(row)
        details = {key: row[key] for key in ("clock", "bytes", "symbol", "grid", "block", "registers") if key in row}
        event = {"ph": "X", "name": row["name"], "cat": row["kind"], "args": details}
        event |= {"pid": pids[process], "tid": lanes[process, lane]}
        event |= {"ts": round(row["start_seconds"] * 1e6, 3), "dur": round(row["seconds"] * 1e6, 3)}  # µs
        events.append(event)
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"}, ensure_ascii=False) + "\n"


def _place(row: Row) -> tuple[str, str]:
    """Return the process and the lane of a row in a trace. Rows that overlap without nesting need separate lanes."""
    if row["kind"] in ON_GPU:
        return "GPU", f"stream {row['stream']}"
    return "host", f"API calls, thread {row['thread']}" if "thread" in row else f"{row['kind']}s"


def table(rows: Sequence[Row]) -> Table:
    """Show the rows of `summed_up`: the GPU's work by name, and its idle time."""
    columns: list[Column] = [
        "kind",
        "name",
        ("count", lambda row: str(row["seconds"]["samples"])),
        "total_seconds",
        "seconds",
        ("share", lambda row: f"{row['share']:.1%} of {row['of']}"),
    ]
    return Table("timeline_summary", summed_up(rows), columns, "Device clock, by CUPTI.")


def summed_up(rows: Sequence[Row]) -> list[Row]:
    """Return a row for each name of work on the GPU, the longest first, then rows for idle time.

    Idle time is counted between the first and the last work, and during the warm launches. `seconds` has median, p10
    and p90 (of idle rows: those of the gaps). `share` is the part of `of`, such as the GPU's busy time, in which
    simultaneous work on several streams counts once.
    """
    work = gpu_work(rows)
    groups: dict[tuple[str, str], list[float]] = {}
    for row in work:
        groups.setdefault((row["kind"], row["name"]), []).append(row["seconds"])
    busy = _busy(work)
    summed = [_sum(kind, name, times, busy, "busy time") for (kind, name), times in groups.items()]
    summed.sort(key=lambda row: -row["total_seconds"])
    warm = within(work, named_range(rows, WARM))
    for name, part in (("between first and last work", work), (f"during {WARM}", warm)):
        if waits := gaps(part):
            summed.append(_sum("idle", name, waits, sum(waits) + _busy(part), "that time"))
    return summed


def _sum(kind: str, name: str, times: list[float], whole: float, of: str) -> Row:
    share = {"total_seconds": sum(times), "share": sum(times) / whole, "of": of}
    return {"kind": kind, "name": name, "clock": "device", "seconds": summary(times), **share}


def _busy(work: Sequence[Row]) -> float:
    return sum(end - start for start, end in union(work))


def gpu_work(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of work on the GPU: kernels, copies, memsets, graphs."""
    return [row for row in rows if row["kind"] in ON_GPU]


def gaps(work: Sequence[Row]) -> list[float]:
    """Return the seconds of each gap between one piece of work and the next."""
    return [start - end for (_, end), (start, _) in itertools.pairwise(union(work))]


def union(rows: Sequence[Row], closer: float = 0.0) -> list[Span]:
    """Return the spans of rows in order, joined if they overlap or lie at most `closer` seconds apart."""
    joined: list[Span] = []
    for start, end in sorted(map(span, rows)):
        if joined and start <= joined[-1][1] + closer:
            before = joined.pop()
            start, end = before[0], max(end, before[1])
        joined.append((start, end))
    return joined


def span(row: Row) -> Span:
    """Return the start and the end of a row, in seconds."""
    return row["start_seconds"], row["start_seconds"] + row["seconds"]


def named_range(rows: Sequence[Row], name: str) -> Span | None:
    """Return the start and the end of the first NVTX range of this name, in seconds, or None."""
    return next((span(row) for row in rows if (row["kind"], row["name"]) == ("NVTX range", name)), None)


def part(rows: Sequence[Row], name: str) -> list[Row]:
    """Return the rows that start within the first NVTX range of this name, with times from its start; [] without it."""
    window = named_range(rows, name)
    start = window[0] if window else 0.0
    return [row | {"start_seconds": row["start_seconds"] - start} for row in within(rows, window)]


def within(rows: Sequence[Row], window: Span | None) -> list[Row]:
    """Return the rows that start in a span of time."""
    return [row for row in rows if window and window[0] <= row["start_seconds"] < window[1]]
