"""Shows what Nsight Compute counted: ten metrics and what they mean, the hottest source lines, the roofline.

The stall reasons are explained in Nsight Compute's *Profiling Guide*, "Warp
Stall Reasons" (docs.nvidia.com/nsight-compute/ProfilingGuide).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from fourways import figures
from fourways.profiling.report import ReportError, product, ratio
from fourways.tables import Column, Row, Table, rate, seconds

STALLS = {
    "barrier": "other warps have yet to reach __syncthreads",
    "branch_resolving": "a jump's target is being computed",
    "dispatch_stall": "the dispatcher holds the instruction back",
    "drain": "stores must leave before the warp can end",
    "gmma": "a tensor core's matrix product",
    "imc_miss": "a constant is not in its cache",
    "lg_throttle": "too many loads and stores are queued",
    "long_scoreboard": "data from global or local memory",
    "math_pipe_throttle": "the arithmetic unit is busy",
    "membar": "a memory fence",
    "mio_throttle": "the queue to shared memory is full",
    "no_instructions": "the instruction is not in its cache",
    "not_selected": "ready, but another warp was chosen",
    "short_scoreboard": "data from shared memory or a special function",
    "sleeping": "the warp sleeps",
    "tex_throttle": "the texture queue is full",
    "wait": "a fixed delay between two instructions",
    "warpgroup_arrive": "the other warps of its group",
}
"""What a warp waits for, by stall reason."""


class _Metric(NamedTuple):
    title: str
    needs: str  # the row's value without which there is nothing to show
    show: Callable[[Row], str]
    meaning: str


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def _beside(first: str, second: str) -> str:
    return ", ".join(filter(None, (first, second)))


def _most(shares: dict[str, float] | None) -> str:
    return ", ".join(f"{name} {_percent(share)}" for name, share in list((shares or {}).items())[:3])


def _waits(row: Row) -> dict[str, float]:
    return {reason: share for reason, share in (row["shares"] or {}).items() if reason != "selected"}


def _dram(row: Row) -> str:
    share = _percent(ratio(row["bytes_per_second"], row["peak_bytes_per_second"]))
    return _beside(rate(row["bytes_per_second"]), share and f"{share} of peak")


def _of(row: Row, first: str, second: str, text: str) -> str:
    """Two percentages of a row, the second of which may be missing."""
    return _beside(f"{row[first]:.0f} %", "" if row[second] is None else text.format(row[second]))


def _sectors(row: Row) -> str:
    return _beside(*("" if row[kind] is None else f"{kind} {row[kind]:.3g}" for kind in ("loads", "stores"))) or "none"


def _instructions(row: Row) -> str:
    return _beside(f"{row['count'] / 1e6:,.3g} million", _most(row["shares"]))


def roof(row: Row) -> float | None:
    """The most FLOP/s that a roofline row's FLOP/byte allow: the lower of the memory roof and the arithmetic roof."""
    memory, arithmetic = product(row["flop_per_byte"], row["peak_bytes_per_second"]), row["peak_flop_per_second"]
    return None if memory is None or arithmetic is None else min(memory, arithmetic)


def _roofline(row: Row) -> str:
    if not row["flop_per_second"]:
        return "no floating-point arithmetic"
    speed = f"{rate(row['flop_per_second']).replace('B/s', 'FLOP/s')} ({row['precision']})"
    limit = roof(row)
    if limit is None:
        return speed
    side = "arithmetic" if limit == row["peak_flop_per_second"] else "memory"
    share = _percent(row["flop_per_second"] / limit)
    return f"{row['flop_per_byte']:.3g} FLOP/byte, {speed}, {share} of the {side} roof"


METRICS = {
    "duration": _Metric(
        "duration",
        "seconds",
        lambda row: seconds(row["seconds"]),
        "GPU time of one launch; Nsight Compute empties the caches first",
    ),
    "dram": _Metric(
        "DRAM throughput",
        "bytes_per_second",
        _dram,
        "read and written; near the peak, only moving fewer bytes helps",
    ),
    "l2": _Metric(
        "L2 hit rate",
        "hit_percent",
        lambda row: _of(row, "hit_percent", "read_hit_percent", "of reads {:.0f} %"),
        "found in the L2 cache rather than in DRAM; writes nearly always are",
    ),
    "occupancy": _Metric(
        "achieved occupancy",
        "percent",
        lambda row: _of(row, "percent", "possible_percent", "{:.0f} % possible"),
        "warps in flight, of the most that a multiprocessor holds; they hide waiting",
    ),
    "registers": _Metric(
        "registers",
        "count",
        lambda row: f"{row['count']:.0f} a thread",
        "many of them limit the warps in flight",
    ),
    "sectors": _Metric(
        "sectors a request",
        "metric",
        _sectors,
        "32-byte pieces of global memory that a warp's access touches: 4 is ideal for 4-byte elements, 32 the worst",
    ),
    "bank conflicts": _Metric(
        "bank conflicts",
        "count",
        lambda row: f"{row['count']:,.0f}",
        "extra rounds of shared memory, because threads of a warp met in one bank; 0 is ideal",
    ),
    "stalls": _Metric(
        "stall reasons",
        "shares",
        lambda row: _most(_waits(row)),
        "what warps waited for, in shares of all samples",
    ),
    "instructions": _Metric(
        "instructions",
        "count",
        _instructions,
        "executed, counted once a warp, by kind",
    ),
    "roofline": _Metric(
        "roofline",
        "flop_per_second",
        _roofline,
        "arithmetic for each byte of DRAM, and how near the kernel is to what that allows",
    ),
}
"""The ten metrics: title, how a row is shown, and what it means."""


def _value(row: Row) -> str:
    metric = METRICS[row["metric"]]
    return "not in this report" if row[metric.needs] is None else metric.show(row)


def _meaning(row: Row) -> str:
    top = next(iter(_waits(row)), "") if row["metric"] == "stalls" else ""
    return METRICS[row["metric"]].meaning + (f"; {top}: {STALLS[top]}" if top in STALLS else "")


def _launch(rows: Sequence[Row]) -> list[Column]:
    """The column that names the launch, where there are several."""
    several = len({row["launch"] for row in rows}) > 1
    return [("launch", lambda row: f"{row['launch']}: {row['kernel']}")] if several else []


def table(rows: Sequence[Row]) -> Table:
    """The metrics of a report (`Report.metrics`): metric, value, what it means."""
    columns = [
        *_launch(rows),
        ("metric", lambda row: METRICS[row["metric"]].title),
        ("value", _value),
        ("what it means", _meaning),
    ]
    names = dict.fromkeys(" on ".join(filter(None, (row["kernel"], row["device"]))) for row in rows)
    return Table("profile", rows, columns, "; ".join(names))


def lines_table(rows: Sequence[Row], count: int = 8) -> Table:
    """The hottest `count` source lines of each launch in a report (`Report.lines`)."""
    seen: Counter[int] = Counter()
    shown = []
    for row in rows:
        seen[row["launch"]] += 1
        shown += [row] if seen[row["launch"]] <= count else []
    columns: list[Column] = [
        *_launch(rows),
        *([("file", lambda row: row["file"])] if len({row["file"] for row in shown}) > 1 else []),
        ("line", lambda row: str(row["line"])),
        ("samples", lambda row: _percent(row["sample_share"])),
        ("instructions", lambda row: _percent(row["instruction_share"])),
        ("waits for", lambda row: row["stall"] or ""),
        ("source", lambda row: row["text"]),
    ]
    without = "Where the source is empty, the report does not hold it."
    note = "" if all(row["text"] for row in shown) else without
    return Table("profile_lines", shown, columns, note if rows else "No lines: the kernel was built without -lineinfo.")


def figure(rows: Sequence[Row], title: str) -> Any:
    """The roofline of a report (`Report.metrics`), a point for each launch, as a matplotlib figure.

    Raises ReportError where the report has no peaks, or no launch did floating-point arithmetic.
    """
    placed = [row for row in rows if row["metric"] == "roofline" and roof(row) and row["flop_per_second"]]
    if not placed:
        raise ReportError("no roofline: no floating-point arithmetic was counted, or the report lacks the peaks")
    points = {}
    for row in placed:
        name = f"{row['launch']}: {row['kernel']}" if len(placed) > 1 else row["kernel"]
        share = _percent(ratio(row["flop_per_second"], roof(row)))
        points[f"{name}, {share} of its roof"] = (row["flop_per_byte"], row["flop_per_second"])
    peaks = {row["precision"]: row["peak_flop_per_second"] for row in placed}
    return figures.roofline(points, placed[0]["peak_bytes_per_second"], peaks, title)
