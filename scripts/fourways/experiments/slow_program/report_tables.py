"""Tables of a report in lesson 07: quantities with their meaning, the hottest source lines; and the roofline.

Nsight Compute's *Profiling Guide* explains the stall reasons: "Warp Stall Reasons"
(docs.nvidia.com/nsight-compute/ProfilingGuide).
"""

from collections.abc import Sequence
from typing import Any

from fourways import figures
from fourways.experiments.slow_program.counters import product, ratio
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
"""The meaning of each stall reason."""


METRICS = {
    "duration": ("duration", "GPU time of one launch; Nsight Compute empties the caches first"),
    "dram": ("DRAM throughput", "read and written; near the peak, only moving fewer bytes helps"),
    "l2": ("L2 hit rate", "found in the L2 cache rather than in DRAM; writes nearly always are"),
    "occupancy": ("achieved occupancy", "warps in flight, of the most that a multiprocessor holds; they hide waiting"),
    "sectors": (
        "sectors a request",
        "32-byte pieces of global memory that a warp's access touches: 4 are ideal where a thread takes 4 bytes, 16 "
        "where it takes 16; 32 are the worst",
    ),
    "stalls": ("stall reasons", "what warps waited for, in shares of all samples"),
    "roofline": ("roofline", "arithmetic for each byte of DRAM, and how near the kernel is to what that allows"),
}
"""The quantities, each with its title and its meaning."""


def _value(row: Row) -> str:
    """Return a metric's value in words, or "not in this report" if a number is None."""
    match row:
        case {"metric": "duration", "seconds": float(time)}:
            return seconds(time)
        case {"metric": "dram", "bytes_per_second": float(moved), "peak_bytes_per_second": peak}:
            return _beside(rate(moved), _text("{:.0f} % of peak", product(100.0, ratio(moved, peak))))
        case {"metric": "l2", "hit_percent": float(hit), "read_hit_percent": reads}:
            return _beside(_text("{:.0f} %", hit), _text("of reads {:.0f} %", reads))
        case {"metric": "occupancy", "percent": float(achieved), "possible_percent": possible}:
            return _beside(_text("{:.0f} %", achieved), _text("{:.0f} % possible", possible))
        case {"metric": "sectors", "loads": loads, "stores": stores}:
            return _beside(_text("loads {:.3g}", loads), _text("stores {:.3g}", stores)) or "none"
        case {"metric": "stalls", "shares": dict()}:
            return _most(_waits(row))
        case {"metric": "roofline", "flop_per_second": float(done)}:
            return _roofline(row) if done else "no floating-point arithmetic"
    return "not in this report"


def _percent(share: float | None) -> str:
    return _text("{:.0f} %", product(100.0, share))


def _text(form: str, value: float | None) -> str:
    return "" if value is None else form.format(value)


def _beside(*parts: str) -> str:
    return ", ".join(filter(None, parts))


def _most(shares: dict[str, float]) -> str:
    return ", ".join(f"{name} {_percent(share)}" for name, share in list(shares.items())[:3])


def _waits(row: Row) -> dict[str, float]:
    return {reason: share for reason, share in (row["shares"] or {}).items() if reason != "selected"}


def _roofline(row: Row) -> str:
    speed = f"{rate(row['flop_per_second']).replace('B/s', 'FLOP/s')} ({row['precision']})"
    limit = roof(row)
    if limit is None:
        return speed
    side = "arithmetic" if limit == row["peak_flop_per_second"] else "memory"
    share = _percent(row["flop_per_second"] / limit)
    return f"{row['flop_per_byte']:.3g} FLOP/byte, {speed}, {share} of the {side} roof"


def roof(row: Row) -> float | None:
    """Return the most FLOP/s at a roofline row's FLOP/byte: the lower of the memory roof and the arithmetic roof."""
    memory, arithmetic = product(row["flop_per_byte"], row["peak_bytes_per_second"]), row["peak_flop_per_second"]
    return None if memory is None or arithmetic is None else min(memory, arithmetic)


def _meaning(row: Row) -> str:
    _, meaning = METRICS[row["metric"]]
    top = next(iter(_waits(row)), "") if row["metric"] == "stalls" else ""
    return f"{meaning}; {top}: {STALLS[top]}" if top in STALLS else meaning


def table(rows: Sequence[Row]) -> Table:
    """Show quantities of one launch (rows of `Report.metrics`): metric, value, meaning."""
    names = " on ".join(filter(None, (rows[0]["kernel"], rows[0]["device"])))
    columns: list[Column] = [("metric", lambda row: METRICS[row["metric"]][0]), ("value", _value)]
    return Table("profile", rows, [*columns, ("what it means", _meaning)], names)


def lines_table(rows: Sequence[Row]) -> Table:
    """Show source lines of one launch (rows of `Report.lines`)."""
    columns: list[Column] = [
        ("line", lambda row: str(row["line"])),
        ("samples", lambda row: _percent(row["sample_share"])),
        ("instructions", lambda row: _percent(row["instruction_share"])),
        ("waits for", "stall"),
        ("source", "text"),
    ]
    return Table("profile_lines", rows, columns)


def figure(rows: Sequence[Row], title: str) -> Any:
    """Draw a roofline with a point for each launch (rows of `Report.metrics`).

    Raises ValueError if the report has no peaks, or if no launch did floating-point arithmetic.
    """
    placed = [row for row in rows if row["metric"] == "roofline" and roof(row) and row["flop_per_second"]]
    if not placed:
        raise ValueError("no roofline: no floating-point arithmetic was counted, or the report lacks the peaks")
    points = {}
    for row in placed:
        name = f"{row['launch']}: {row['kernel']}" if len(placed) > 1 else row["kernel"]
        share = _percent(ratio(row["flop_per_second"], roof(row)))
        points[f"{name}, {share} of its roof"] = (row["flop_per_byte"], row["flop_per_second"])
    peaks = {row["precision"]: row["peak_flop_per_second"] for row in placed}
    return figures.roofline(points, placed[0]["peak_bytes_per_second"], peaks, title)
