"""Tables of results: rows that are shown as text, HTML or Rich, and stored in a notebook's outputs for recording."""

import textwrap
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

MIME = "application/vnd.fourways+json"
"""The MIME type of a table's rows in a notebook's outputs. `lesson.rows` reads them."""

Row = dict[str, Any]
Column = str | tuple[str, str | Callable[[Row], str]]


class Table:
    """Named rows of results, and the columns that show them.

    `rows` are dictionaries of JSON values. A column is a key of the rows, which `show` formats and `heading` turns into
    words; or a heading with a key, or with a function that formats a row's cell. By default all keys are columns.
    `note` stands below the table. A notebook shows HTML.
    """

    def __init__(self, name: str, rows: Sequence[Row], columns: Sequence[Column] = (), note: str = "") -> None:
        self.name, self.rows, self.note = name, list(rows), note
        chosen = columns or list(dict.fromkeys(key for row in self.rows for key in row))
        self.columns = [_column(column) for column in chosen]

    def cells(self) -> list[list[str]]:
        """Return the formatted cells, row by row."""
        return [[show(row) for _, show in self.columns] for row in self.rows]

    def __str__(self) -> str:
        lines = [[heading for heading, _ in self.columns], *self.cells()]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        padded = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        padded.insert(1, "  ".join("-" * width for width in widths))
        return "\n".join(line.rstrip() for line in [*padded, *([self.note] if self.note else [])])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        head = "".join(f"<th>{escape(heading)}</th>" for heading, _ in self.columns)
        body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in line) + "</tr>" for line in self.cells())
        note = f"<p><small>{escape(self.note)}</small></p>" if self.note else ""
        html = f'<table class="fourways"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}'
        return {"text/plain": str(self), "text/html": html, MIME: {"table": self.name, "rows": self.rows}}

    def __rich__(self) -> Any:
        from rich.box import SIMPLE_HEAD
        from rich.console import Group
        from rich.table import Table as RichTable
        from rich.text import Text  # y[i] is no markup

        table = RichTable(box=SIMPLE_HEAD, padding=0)  # narrow: 80 columns are few
        lines = self.cells()
        for number, (heading, _) in enumerate(self.columns):
            width = max((len(line[number]) for line in lines), default=0)  # without it Rich breaks the cells
            table.add_column(Text("\n".join(textwrap.wrap(heading, max(width, 1), break_long_words=False))))
        for line in lines:
            table.add_row(*map(Text, line))
        return Group(table, Text(self.note)) if self.note else table


def _column(column: Column) -> tuple[str, Callable[[Row], str]]:
    words, cell = (heading(column), column) if isinstance(column, str) else column
    return words, cell if callable(cell) else lambda row: show(cell, row.get(cell))


def heading(key: str) -> str:
    """Return a key in words: `seconds` is "median", `cold_seconds` "cold", `bytes_per_second` "bytes/s"."""
    names = {"seconds": "median", "bytes_per_second": "bytes/s"}
    return names.get(key) or key.removesuffix("_seconds").replace("_", " ")


def show(key: str, value: Any) -> str:
    """Format the value of a row's key: a time if the key ends in `seconds`, a rate for `bytes_per_second`.

    A time is a number or a `summary`, which shows its median. Other numbers get three digits, whole ones all digits.
    Lists are joined, truth is "yes" or "no", and None is empty.
    """
    if isinstance(value, dict):
        value = value["median"]
    if key.endswith("seconds"):
        return seconds(value)
    if key == "bytes_per_second":
        return rate(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:#.3g}".removesuffix(".")
    return "" if value is None else str(value)


def summary(samples: Sequence[float]) -> dict[str, float]:
    """Return `median`, `p10` and `p90` (percentiles, in the samples' unit) and the number of `samples`."""
    import numpy as np  # slow to import, and needed only here

    p10, median, p90 = np.percentile(samples, [10, 50, 90])
    return {"median": float(median), "p10": float(p10), "p90": float(p90), "samples": len(samples)}


def seconds(value: float | None) -> str:
    """Format seconds with three digits, in s, ms, µs or ns: `1.23 ms` for 0.00123, `1,030 s` for 1034, "" for None."""
    if not value:
        return "" if value is None else "0"
    return _in_units(value, {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9})


def seconds_range(low: float, high: float) -> str:
    """Format two times in seconds as a range, with one unit if both have the same: `259 – 261 µs`."""
    first, last = seconds(low), seconds(high)
    return f"{first.split()[0] if first.split()[1:] == last.split()[1:] else first} – {last}"


RANGE: tuple[str, Callable[[Row], str]] = (
    "p10 to p90",
    lambda row: seconds_range(row["seconds"]["p10"], row["seconds"]["p90"]),
)
"""The column with the range of a row's `seconds`, a `summary`."""


def rate(bytes_per_second: float | None) -> str:
    """Format a rate with three digits in decimal units: `2.50 TB/s` for 2.5e12, "" for None."""
    if bytes_per_second is None:
        return ""
    return _in_units(bytes_per_second, {"PB/s": 1e15, "TB/s": 1e12, "GB/s": 1e9, "MB/s": 1e6})


def _in_units(value: float, units: dict[str, float]) -> str:
    """Format a value with three digits in the first unit that gives at least 1 after rounding, else in the last."""
    texts = [(f"{value / scale:#.3g}", unit) for unit, scale in units.items()]
    figures, unit = next((each for each in texts if abs(float(each[0])) >= 1), texts[-1])
    if 1000 <= abs(float(figures)) < 1e6:
        figures = f"{float(figures):,.0f}"
    return f"{figures.removesuffix('.')} {unit}"
