"""Pipelines of copies and kernels that overlap: the time of each stage, and the distance from the bound."""

from collections.abc import Mapping, Sequence
from typing import Any

from fourways import figures
from fourways.tables import Column, Row, Table, seconds
from fourways.timeline import union

_RECORDED_AS = {
    "copy in": {"kind": "copy", "name": "host to device"},
    "compute": {"kind": "kernel", "name": "kernel"},
    "copy out": {"kind": "copy", "name": "device to host"},
}
STAGES = tuple(_RECORDED_AS)
"""The stages of a pipeline, in order. A GPU can work on all three at the same time."""

_ABOVE = "Above 100 %: the bound is a measurement, too, made at another moment."
_HAIRLINE = 0.3  # points: keeps very short kernels visible


def stage(row: Row) -> str | None:
    """Return the stage of `STAGES` that a row of a timeline belongs to, or None."""
    if row["kind"] in ("kernel", "graph"):
        return "compute"
    return next((name for name, known in _RECORDED_AS.items() if known == {key: row[key] for key in known}), None)


def work(name: str, stream: int, start_seconds: float, seconds: float) -> Row:
    """Return the row that CUPTI would record for this work, for computed pipelines; `name` is one of `STAGES`.

    Raises KeyError for another name.
    """
    return _RECORDED_AS[name] | {"stream": stream, "start_seconds": start_seconds, "seconds": seconds}


def overlap(rows: Sequence[Row]) -> Row:
    """Return how well a timeline's copies and kernels overlapped.

    `stages` holds the busy seconds of each of `STAGES`, `seconds` the time from the first start to the last end.
    `bound_seconds` is the time of the busiest stage: with a perfect overlap, all work would take that long. `share` is
    the bound divided by `seconds`, 1 for a perfect overlap. Raises ValueError if no row belongs to a stage.
    """
    spans = {name: union([row for row in rows if stage(row) == name]) for name in STAGES}
    if not any(spans.values()):
        raise ValueError("no overlap to compute: these rows hold no copies and no kernels")
    busy = {name: sum(end - start for start, end in pieces) for name, pieces in spans.items()}
    starts, ends = zip(*(span for pieces in spans.values() for span in pieces), strict=True)
    taken, bound = max(ends) - min(starts), max(busy.values())
    return {"stages": busy, "seconds": taken, "bound_seconds": bound, "share": bound / taken}


def table(name: str, rows: Sequence[Row]) -> Table:
    """Show pipelines and their bounds: rows with `what`, `seconds` (a summary), `bound_seconds` and `wrong`.

    `wrong` counts the wrong elements. The table adds the bound's share of the median. If rows have `queued_seconds`,
    the time until the host had queued all work, the table has a column for it.
    The bound must be measured with the same chunks, because fewer and larger copies are faster. The bound is a
    measurement, too, so a share can exceed 100 %; a note below the table then says so.
    """
    columns: list[Column] = [
        ("pipeline", "what"),
        "seconds",
        "bound_seconds",
        ("share", lambda row: f"{_share(row):.0%}"),
        ("result", lambda row: f"{row['wrong']:,} wrong" if row["wrong"] else "right"),
    ]
    if any("queued_seconds" in row for row in rows):
        columns.insert(-1, ("queued after", "queued_seconds"))
    above = any(round(_share(row), 2) > 1 for row in rows)
    return Table(name, rows, columns, _ABOVE if above else "")


def _share(row: Row) -> float:
    return float(row["bound_seconds"] / row["seconds"]["median"])


def figure(panels: Mapping[str, Sequence[Row]], title: str = "") -> Any:
    """Draw the times at which the GPU copied and computed: `panels[name]` are the rows of a timeline.

    Each panel has a lane for each of `STAGES` and a colour for each stream. Time starts with the panel's first work,
    and all panels have the same scale. Raises ValueError if a panel has no such work.
    """
    drawn, axes = figures.new((4.8, 0.8 + 1.05 * len(panels)), len(panels), sharex=True, squeeze=False)
    for panel, (name, rows) in zip(axes[:, 0], panels.items(), strict=True):
        overlapped, work = overlap(rows), [row for row in rows if stage(row)]
        first = min(row["start_seconds"] for row in work)
        streams = list(dict.fromkeys(row["stream"] for row in work))
        colours = {each: figures.STAGE_COLOURS[1 + number % 6] for number, each in enumerate(streams)}
        for lane, wanted in enumerate(STAGES):
            part = [row for row in work if stage(row) == wanted]
            bars = [(1e3 * (row["start_seconds"] - first), 1e3 * row["seconds"]) for row in part]
            look = [colours[row["stream"]] for row in part]
            panel.broken_barh(bars, (lane - 0.38, 0.76), facecolors=look, edgecolors=look, linewidth=_HAIRLINE)
        panel.set_yticks(range(len(STAGES)), STAGES)
        panel.set_ylim(len(STAGES) - 0.5, -0.5)
        text = f"{name}: {seconds(overlapped['seconds'])}, of which the busiest stage works {overlapped['share']:.0%}"
        panel.set_title(text, loc="left", fontsize=8)
    axes[-1, 0].set_xlabel("ms, a colour for each stream")
    drawn.suptitle(title)
    return drawn
