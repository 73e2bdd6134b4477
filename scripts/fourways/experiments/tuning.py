"""Variants of a kernel built, checked and timed one after another; what the search cost, against what it gained."""

import functools
import math
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from fourways import checking, figures
from fourways.tables import Row, Table, seconds, summary
from fourways.timing import Judged, device_seconds, host_seconds
from fourways.ways import Ways, is_host


def tune(
    ways: Ways,
    variants: Iterable[Mapping[str, Any]],
    build: Callable[..., Callable[..., Any]],
    size: int,
    way: str = "gpu",
) -> list[Row]:
    """Build each of `variants`, check it at every size of `checking.check`, and time it at `size` elements; a row each.

    `build(**variant)` returns a function as a way's, `function(*inputs, *outputs)`. `way` says where its arrays lie, as
    for `checking.place`: "host" in NumPy, timed by the host's clock; else on the GPU, timed by the device's.
    A row holds the `variant`; `build_seconds`, the host's time for `build`; `search_seconds`, its time for building,
    checking and timing together; `seconds`, a summary of a call's times; and `problem`, None. A variant that cannot be
    built or launched, or is wrong, has no `seconds` (None) but one line of `problem`. Outputs are restored before each
    sample and judged after the last one, as by `time_ways`.
    Raises CheckFailure where the GPU can do nothing more.
    """
    sizes = ways.sizes or checking.SIZES
    cases = [(count, inputs := ways.make_inputs(count), ways.reference(*inputs)) for count in sizes]
    values = ways.make_inputs(size)
    judged = Judged(way, values, ways.reference(*values), ways.rtol, ways.in_place, ways.atol)
    clock = host_seconds if is_host(way) else device_seconds
    rows = []
    for variant in variants:
        row: Row = {"variant": dict(variant), "clock": "host" if is_host(way) else "device", "seconds": None}
        start = time.perf_counter()
        try:
            function = build(**variant)
            row["build_seconds"] = time.perf_counter() - start
            row["problem"] = _problem(function, way, cases, ways)
            if not row["problem"]:
                samples = clock(functools.partial(function, *judged.values), before=judged.restore)
                if problem := judged.problem():
                    row["problem"] = f"size {size}: after the last timed call {problem}"
                else:
                    row["seconds"] = summary(samples)
        except checking.CheckFailure:
            raise
        except Exception as error:
            row.setdefault("build_seconds", time.perf_counter() - start)
            row["problem"] = f"{type(error).__name__}: {_first_error(str(error))}"
        rows.append(row | {"search_seconds": time.perf_counter() - start})
    return rows


def _problem(function: Callable[..., Any], way: str, cases: Sequence[tuple[int, tuple, Any]], ways: Ways) -> str | None:
    """The first thing that is wrong with the function's answers, in one line."""
    for size, inputs, expected in cases:
        if problem := checking.verdict(function, way, inputs, expected, ways.rtol, ways.in_place, ways.atol):
            return f"size {size}: {problem.splitlines()[0]}"
    return None


def _first_error(words: str) -> str:
    """The first line of a compiler's words that says error, without folders and hashes; else the first line."""
    lines = words.strip().splitlines() or [""]
    line = next((line.strip() for line in lines if "error" in line.lower()), lines[0])
    line = re.sub(r"\S*/(?=[^/\s]+[:(]\d)", "", line)
    return re.sub(r"\b[0-9a-f]{32,}[.\w]*\((\d+)\)", r"line \1", line)  # CuPy names a file by the hash of its text


def best(rows: Sequence[Row]) -> Row:
    """The quickest of those that are right. Raises ValueError where none is."""
    right = [row for row in rows if row["seconds"]]
    if not right:
        raise ValueError("no variant is right: " + "; ".join(row["problem"] for row in rows))
    return min(right, key=lambda row: row["seconds"]["median"])


def tune_table(rows: Sequence[Row], name: str = "tuning") -> Table:
    """The rows of `tune` in their order; the last column but one compares each with the first, which must be right."""

    def against_first(row: Row) -> str:
        return f"{rows[0]['seconds']['median'] / row['seconds']['median']:.2f}" if row["seconds"] else ""

    columns = [
        *((key, lambda row, key=key: str(row["variant"][key])) for key in rows[0]["variant"]),
        ("build (host)", lambda row: seconds(row["build_seconds"])),
        (f"median ({rows[0]['clock']})", lambda row: seconds(row["seconds"]["median"]) if row["seconds"] else ""),
        ("times the first's speed", against_first),
        ("outcome", lambda row: row["problem"] or "right"),
    ]
    built, all_of_it = (sum(row[key] for row in rows) for key in ("build_seconds", "search_seconds"))
    note = f"The search took {seconds(all_of_it)} (host clock), {seconds(built)} of it to build."
    return Table(name, rows, columns, note)


def pays_after(cost: float, slow: float, fast: float) -> float:
    """How many calls it takes until `cost` seconds are won back by calls of `fast` seconds in place of `slow` ones.

    Infinity where nothing is won.
    """
    return cost / (slow - fast) if fast < slow else math.inf


def totals_figure(plans: Mapping[str, tuple[float, float]], title: str) -> Any:
    """Seconds in all over the number of calls: `plans[name]` is the seconds paid once, and those of each call.

    The axis reaches beyond the last crossing of two lines that lies below a billion calls.
    """
    points = list(plans.values())
    crossings = [pays_after(high[0] - low[0], low[1], high[1]) for low in points for high in points]
    last = max([1.0, *(count for count in crossings if count < 1e9)])
    calls = [2**power for power in range(0, math.ceil(math.log2(last)) + 5, 2)]
    lines = {name: [(count, once + count * each) for count in calls] for name, (once, each) in plans.items()}
    return figures.lines(lines, "calls", "seconds in all", seconds, title)
