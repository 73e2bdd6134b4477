"""The drawing of a timeline: lanes for the work of the GPU and the host."""

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

from fourways import figures, timeline
from fourways.tables import Row, seconds, summary

_WAITING = "#E3E3E3"  # the part of an API call in which the host waits for the GPU
_LANES = {
    "API calls": (("API call",), ["#777777"]),
    "kernels": (("kernel", "graph"), ["#1B7F7A", "#7CC4BF"]),  # successive ones alternate
    "copies": (("copy", "memset"), ["#A0522D", "#D9A98A"]),
}


def figure(rows: Sequence[Row], title: str = "", closer: str = "launches") -> Any:
    """Draw a timeline: the whole run, and below it the range `closer`, if there is one; by default, a way's stage.

    The lanes are stages and NVTX ranges, the host's CUDA API calls and waits, kernels, and copies. Raises ValueError if
    the rows hold no work on the GPU.
    """
    from matplotlib.patches import Rectangle

    if not timeline.gpu_work(rows):
        raise ValueError("nothing to draw: no work on the GPU in these rows")
    panels, close = {"the whole run": rows}, timeline.part(rows, closer)
    gaps = timeline.gaps(timeline.gpu_work(close))
    note = f", {len(gaps)} gaps of {seconds(summary(gaps)['median'])} (median)" if gaps else ""
    panels |= {closer + note: close} if close else {}
    ends = next((row["seconds"] for row in close if row["name"] == closer), 0.0)
    totals = Counter[str]()
    for row in _outermost(rows):
        totals[row["name"]] += row["seconds"]
    colours = dict(zip(totals, itertools.cycle(figures.STAGE_COLOURS)))
    drawn, axes = figures.new((4.8, 1 + 2.2 * len(panels)), len(panels), squeeze=False)
    for panel, (heading, shown) in zip(axes[:, 0], panels.items(), strict=True):
        _draw(panel, shown, colours, max(map(timeline.end, rows)) if shown is rows else ends)
        panel.set_title(heading, loc="left", fontsize=8)
    longest = dict(totals.most_common(8))
    legend = {f"{name}, {seconds(totals[name])}": colours[name] for name in totals if name in longest}
    legend["host waits for GPU"] = _WAITING
    keys: list[Any] = [Rectangle((0, 0), 1, 1, color=colour) for colour in legend.values()]
    drawn.legend(keys, legend, ncols=2, loc="outside lower center", fontsize=8)
    drawn.suptitle(title)
    return drawn


def _outermost(rows: Sequence[Row]) -> list[Row]:
    """Return the ranges that lie in no other."""
    outer: list[Row] = []
    for row in rows:
        if row["kind"] in timeline.RANGES and (not outer or row["start_seconds"] >= timeline.end(outer[-1])):
            outer.append(row)
    return outer


def _draw(panel: Any, rows: Sequence[Row], colours: dict[str, str], length: float) -> None:
    """Draw the lanes of rows into a panel, each with the two names that took longest in total, and their counts."""
    unit, scale = next(each for each in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)) if length >= each[1] or "µs" in each)

    def bars(lane: int, part: Sequence[Row], looks: Sequence[str]) -> None:
        spans = [(row["start_seconds"] / scale, row["seconds"] / scale) for row in part]
        turns = list(itertools.islice(itertools.cycle(looks), len(spans)))
        panel.broken_barh(spans, (lane - 0.27, 0.54), facecolors=turns, edgecolors=turns, linewidth=0.3)

    for row in _outermost(rows):
        bars(0, [row], [colours.get(row["name"], "#555555")])
    for lane, (kinds, looks) in enumerate(_LANES.values(), 1):
        part = [row for row in rows if row["kind"] in kinds]
        bars(lane, part, looks)
        counts, times = Counter(row["name"] for row in part), Counter[str]()
        for row in part:
            times[row["name"]] += row["seconds"]
        names = [f"{counts[name]} {name.rpartition('::')[2][:28]}" for name, _ in times.most_common(2)]
        names += ["…"] if len(counts) > 2 else []
        where: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "va": "center"}
        panel.annotate(", ".join(names), (0, lane + 0.46), fontsize=7.5, color="#555555", **where)
    bars(1, [row for row in rows if row["kind"] == "synchronization"], [_WAITING])
    panel.set_yticks(range(1 + len(_LANES)), ["ranges", *_LANES])
    panel.set_ylim(len(_LANES) + 0.7, -0.5)
    panel.set_xlim(0, length / scale)
    panel.set_xlabel(unit, fontsize=8)
