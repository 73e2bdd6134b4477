"""Tables and figures of a report: ten metrics with their meaning, the hottest source lines, the roofline.

Nsight Compute's *Profiling Guide* explains the stall reasons: "Warp Stall Reasons"
(docs.nvidia.com/nsight-compute/ProfilingGuide).
"""

from collections.abc import Sequence
from typing import Any

from fourways import figures
from fourways.nsight.report import ReportError, product, ratio
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
    "registers": ("registers", "many of them limit the warps in flight"),
    "sectors": (
        "sectors a request",
        "32-byte pieces of global memory that a warp's access touches: 4 are ideal where a thread takes 4 bytes, 16 "
        "where it takes 16; 32 are the worst",
    ),
    "bank conflicts": (
        "bank conflicts",
        "rounds of shared memory that were too many, because threads of a warp met in one bank; 0 is ideal",
    ),
    "stalls": ("stall reasons", "what warps waited for, in shares of all samples"),
    "instructions": ("instructions", "executed, counted once a warp, by kind"),
    "roofline": ("roofline", "arithmetic for each byte of DRAM, and how near the kernel is to what that allows"),
}
"""The ten metrics, each with its title and its meaning."""


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
        case {"metric": "registers", "count": float(count)}:
            return f"{count:.0f} a thread"
        case {"metric": "sectors", "loads": loads, "stores": stores}:
            return _beside(_text("loads {:.3g}", loads), _text("stores {:.3g}", stores)) or "none"
        case {"metric": "bank conflicts", "count": float(count), "rounds": float(rounds)}:
            return f"{count:,.0f} of {rounds:,.0f} rounds" if rounds else "no shared memory in use"
        case {"metric": "stalls", "shares": dict()}:
            return _most(_waits(row))
        case {"metric": "instructions", "count": float(count), "shares": shares}:
            return _beside(f"{count / 1e6:,.3g} million", _most(shares or {}))
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


def _launch(rows: Sequence[Row]) -> list[Column]:
    """Return the column that names the launch, if there are several launches."""
    several = len({row["launch"] for row in rows}) > 1
    return [("launch", lambda row: f"{row['launch']}: {row['kernel']}")] if several else []


_BESIDE_EACH_OTHER = 4  # launches: more columns cannot be read in a terminal


def table(rows: Sequence[Row]) -> Table:
    """Show the metrics of a report (`Report.metrics`): metric, value, meaning.

    Two to four launches have a column each. The note then explains the largest stall reasons, and there are no other
    meanings.
    """
    names = "; ".join(dict.fromkeys(" on ".join(filter(None, (row["kernel"], row["device"]))) for row in rows))
    metric: Column = ("metric", lambda row: METRICS[row["metric"]][0])
    launches = {f"{row['launch']}: {row['kernel']}": row["launch"] for row in rows}
    if not 2 <= len(launches) <= _BESIDE_EACH_OTHER:
        columns = [*_launch(rows), metric, ("value", _value), ("what it means", _meaning)]
        return Table("profile", rows, columns, names)
    by_launch = {(row["launch"], row["metric"]): row for row in rows}
    columns = [metric]
    for heading, launch in launches.items():
        columns.append((heading, lambda row, launch=launch: _value(by_launch[launch, row["metric"]])))  # type: ignore
    tops = dict.fromkeys(next(iter(_waits(row)), "") for row in rows if row["metric"] == "stalls")
    waits = [f"{reason}: {STALLS[reason]}" for reason in tops if reason in STALLS]
    of_first = [row for row in rows if row["launch"] == rows[0]["launch"]]  # a line for each metric
    return Table("profile", rows, columns, "\n".join([names, *waits]), of_first)


def lines_table(rows: Sequence[Row], count: int = 8) -> Table:
    """Show the hottest `count` source lines of each launch in a report (`Report.lines`)."""
    launches = dict.fromkeys(row["launch"] for row in rows)
    shown = [row for launch in launches for row in [each for each in rows if each["launch"] == launch][:count]]
    columns: list[Column] = [
        *_launch(rows),
        *(["file"] if len({row["file"] for row in shown}) > 1 else []),
        ("line", lambda row: str(row["line"])),
        ("samples", lambda row: _percent(row["sample_share"])),
        ("instructions", lambda row: _percent(row["instruction_share"])),
        ("waits for", "stall"),
        ("source", "text"),
    ]
    note = "" if all(row["text"] for row in shown) else "Where the source is empty, the report does not hold it."
    return Table("profile_lines", shown, columns, note if rows else "No lines: the kernel was built without -lineinfo.")


def figure(rows: Sequence[Row], title: str) -> Any:
    """Draw the roofline of a report (`Report.metrics`), with a point for each launch.

    Raises ReportError if the report has no peaks, or if no launch did floating-point arithmetic.
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
