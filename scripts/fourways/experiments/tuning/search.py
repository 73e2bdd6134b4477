"""A search over the variants of a kernel, and after how many calls it has paid."""

import functools
import math
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from fourways import checking
from fourways.measuring import device_seconds, host_seconds, prepared
from fourways.tables import Column, Row, Table, seconds, summary
from fourways.ways import Ways, is_host


def tune(
    ways: Ways,
    variants: Iterable[Mapping[str, Any]],
    build: Callable[..., Callable[..., Any]],
    size: int,
    way: str = "gpu",
) -> list[Row]:
    """Build each of `variants`, check it at every size of `checking.check`, and time it at `size` elements.

    `build(**variant)` returns a function like a way's, `function(*inputs, *outputs)`. With `way` "host" the arrays are
    NumPy's, timed by the host's clock; else they are on the GPU, timed by the device's clock.
    Each row holds the `variant`, `build_seconds` (host clock), `search_seconds` (host clock, for building, checking and
    timing together), `seconds` (a summary of a call's times), and `problem`. A variant that cannot be built or
    launched, or that is wrong before or after it is timed, has a line of `problem`, and None for `seconds`.
    Raises CheckFailure if the GPU can do nothing more.
    """
    sizes = ways.sizes or checking.SIZES
    questions = {count: ways.question(count) for count in sizes}
    question = ways.question(size)
    arguments, restore = prepared(way, question)
    clock = host_seconds if is_host(way) else device_seconds
    rows = []
    for variant in variants:
        row: Row = {"variant": dict(variant), "clock": "host" if is_host(way) else "device", "seconds": None}
        start = time.perf_counter()
        try:
            function = build(**variant)
            row["build_seconds"] = time.perf_counter() - start
            row["problem"] = _problem(function, way, questions)
            if not row["problem"]:
                samples = clock(functools.partial(function, *arguments), before=restore)
                if problem := checking.verdict(function, way, *question):
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


def _problem(function: Callable[..., Any], way: str, questions: Mapping[int, Any]) -> str | None:
    """Return a line on the first wrong answer of the function, or None. `questions` are those of `Ways`, by size."""
    for size, question in questions.items():
        if problem := checking.verdict(function, way, *question):
            return f"size {size}: {problem.splitlines()[0]}"
    return None


def _first_error(words: str) -> str:
    """Return the first line of a compiler's message with "error" in it, else the first line, without folders."""
    lines = words.strip().splitlines() or [""]
    line = next((line.strip() for line in lines if "error" in line.lower()), lines[0])
    line = re.sub(r"\S*/(?=[^/\s]+[:(]\d)", "", line)
    return re.sub(r"\b[0-9a-f]{32,}[.\w]*\((\d+)\)", r"line \1", line)  # CuPy names a file by the hash of its text


def tune_table(rows: Sequence[Row], name: str = "tuning") -> Table:
    """Show the rows of `tune` in their order, with each one's speed relative to the first, which must be right."""

    def against_first(row: Row) -> str:
        return f"{rows[0]['seconds']['median'] / row['seconds']['median']:.2f}" if row["seconds"] else ""

    columns: list[Column] = [
        *((key, lambda row, key=key: str(row["variant"][key])) for key in rows[0]["variant"]),
        ("build (host)", "build_seconds"),
        (f"median ({rows[0]['clock']})", "seconds"),
        ("times the first's speed", against_first),
        ("outcome", lambda row: row["problem"] or "right"),
    ]
    built, all_of_it = (sum(row[key] for row in rows) for key in ("build_seconds", "search_seconds"))
    note = f"The search took {seconds(all_of_it)} (host clock), {seconds(built)} of it to build."
    return Table(name, rows, columns, note)


def payback(rows: Sequence[Row]) -> Table:
    """Return after how many calls the fastest variant has paid for its own build, and for the whole search.

    `rows` are those of `tune`. The variant is held against the first one, which is compiled ahead of time. The number
    of calls is infinite if the first one is the fastest. Raises ValueError if no variant is right.
    """
    right = [row for row in rows if row["seconds"]]
    if not right:
        raise ValueError("no variant is right: " + "; ".join(row["problem"] for row in rows))
    winner = min(right, key=lambda row: row["seconds"]["median"])
    slow, fast = (row["seconds"]["median"] for row in (rows[0], winner))
    whole = sum(row["search_seconds"] for row in rows)
    costs = {"the fastest one's build": winner["build_seconds"], "the whole search": whole}
    paid: list[Row] = []
    for name, cost in costs.items():
        calls = cost / (slow - fast) if fast < slow else math.inf
        paid.append({"what": name, "clock": "host", "seconds": cost, "calls": calls})
    chosen = ", ".join(f"{key}: {value}" for key, value in winner["variant"].items())
    columns: list[Column] = ["what", ("cost (host)", "seconds"), ("paid after calls", "calls")]
    return Table("payback", paid, columns, f"The fastest is {chosen}. Each call saves {seconds(slow - fast)}.")
