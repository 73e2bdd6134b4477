"""Ratios of times as rows of a table."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fourways import tables, timing


def ratio(what: str, seconds: float, beside: str, base: float, aim: str = "") -> tables.Row:
    """A row: the time of `what`, divided by that of `beside`, and what the quotient should be."""
    return {"what": what, "seconds": seconds, "beside": beside, "base": base, "aim": aim}


def table(rows: Sequence[tables.Row], note: str = "") -> tables.Table:
    """The rows of `ratio` as a table."""
    columns: list[tables.Column] = [
        ("what", lambda row: row["what"]),
        ("time", lambda row: tables.seconds(row["seconds"])),
        ("beside", lambda row: row["beside"]),
        ("its time", lambda row: tables.seconds(row["base"])),
        ("ratio", lambda row: f"{row['seconds'] / row['base']:.3f}" if row["base"] else ""),
        ("aim", lambda row: row["aim"]),
    ]
    return tables.Table("ratios", rows, columns, note)


def device(call: Callable[[], Any], cold: bool = False) -> float:
    """The median seconds of a call on the GPU."""
    return tables.summary(timing.device_seconds(call, cold))["median"]


def medians(batches: Mapping[str, Callable[[], float]], rounds: int = 60) -> dict[str, float]:
    """The median of what each of `batches` returns; they take turns, after a round that does not count."""
    samples: dict[str, list[float]] = {name: [] for name in batches}
    for name in batches:
        batches[name]()
    for name in timing.turns(rounds, list(batches)):
        samples[name].append(batches[name]())
    return {name: statistics.median(taken) for name, taken in samples.items()}
