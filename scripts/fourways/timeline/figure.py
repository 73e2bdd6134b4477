"""The drawing of a timeline: lanes for the work of the GPU and the host."""

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

from fourways import figures
from fourways.tables import Row, seconds, summary
from fourways.timeline import trace

_LANES = {
    "API calls": (("API call",), ["#777777"]),
    "kernels": (("kernel", "graph"), ["#1B7F7A", "#7CC4BF"]),
    "copies": (("copy", "memset"), ["#A0522D", "#D9A98A"]),
}
_WAITING = "#E3E3E3"  # the part of an API call in which the host waits for the GPU
_MANY = 400  # bars in a lane
_HAIRLINE = 0.3  # points: keeps very short work visible


def figure(rows: Sequence[Row], title: str = "", closer: str = trace.WARM) -> Any:
    """Draw a timeline: the whole run, and below it the NVTX range `closer`, or without that range the densest work.

    The lanes are NVTX ranges, the host's CUDA API calls and waits, kernels, and copies. Successive launches alternate
    between two shades. Raises ValueError if the rows hold no work on the GPU.
    """
    from matplotlib.patches import Rectangle

    if not (work := trace.gpu_work(rows)):
        raise ValueError("nothing to draw: no work on the GPU in these rows")
    drawn, (whole, detail) = figures.new((4.8, 5.4), rows=2)
    stages = _outermost([row for row in rows if row["kind"] == "NVTX range"])
    names = dict.fromkeys(row["name"] for row in stages)  # `import` comes twice
    totals = {name: sum(row["seconds"] for row in stages if row["name"] == name) for name in names}
    palette = dict(zip(totals, itertools.cycle(figures.STAGE_COLOURS)))
    span = (0.0, max(trace.span(row)[1] for row in rows))
    name, close = _closer_look(work, trace.named_range(rows, closer), closer)
    gaps = trace.gaps(trace.within(work, close))
    note = f", {len(gaps)} gaps of {seconds(summary(gaps)['median'])} (median)" if gaps else ""
    for axes, window, heading in ((whole, span, "the whole run"), (detail, close, name + note)):
        _panel(axes, rows, stages, palette, window)
        axes.set_title(heading, loc="left", fontsize=8)
    longest = sorted(totals, key=lambda name: -totals[name])[:8]
    legend = {f"{name}, {seconds(totals[name])}": palette[name] for name in totals if name in longest}
    legend["host waits for GPU"] = _WAITING
    keys: list[Any] = [Rectangle((0, 0), 1, 1, color=colour) for colour in legend.values()]
    drawn.legend(keys, legend, ncols=2, loc="outside lower center", fontsize=8)
    drawn.suptitle(title)
    return drawn


def _panel(axes: Any, rows: Sequence[Row], stages: list[Row], palette: dict[str, str], window: trace.Span) -> None:
    """Draw the lanes of a span of time, each with a note on its contents."""
    start, end = window
    units = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 0.0))
    unit, scale = next((unit, size or 1e-9) for unit, size in units if end - start >= size)

    def draw(lane: int, part: Sequence[Row], colours: Sequence[str]) -> None:
        spans = sorted(map(trace.span, part))
        if len(spans) > _MANY:  # bars that cannot be told apart become one
            spans = trace.union(part, (end - start) / 1000)
        spans = [(max(left, start), min(right, end)) for left, right in spans if right > start and left < end]
        bars = [((left - start) / scale, (right - left) / scale) for left, right in spans]
        turns = list(itertools.islice(itertools.cycle(colours), len(bars)))
        axes.broken_barh(bars, (lane - 0.27, 0.54), facecolors=turns, edgecolors=turns, linewidth=_HAIRLINE)

    for stage in stages:
        draw(0, [stage], [palette[stage["name"]]])
    for lane, (kinds, colours) in enumerate(_LANES.values(), 1):
        part = [row for row in rows if row["kind"] in kinds]
        draw(lane, part, colours)
        note = _contents(trace.within(part, window))
        axes.annotate(
            note, (0, lane + 0.46), xycoords=("axes fraction", "data"), fontsize=7.5, color="#555555", va="center"
        )
    draw(1, [row for row in rows if row["kind"] == "synchronization"], [_WAITING])
    axes.set_yticks(range(1 + len(_LANES)), ["NVTX", *_LANES])
    axes.set_ylim(len(_LANES) + 0.7, -0.5)
    axes.set_xlim(0, (end - start) / scale)
    axes.set_xlabel(unit, fontsize=8)


def _contents(rows: Sequence[Row]) -> str:
    """Return the counts of the two names of a lane that took longest in total: `10 doublify, 2 cupy_fill`."""
    counts, times = Counter(row["name"] for row in rows), Counter[str]()
    for row in rows:
        times[row["name"]] += row["seconds"]
    named = [f"{counts[name]} {_short(name)}" for name, _ in times.most_common(2)]
    others = len(counts) - len(named)
    return ", ".join([*named, *([f"{others} other {'names' if others > 1 else 'name'}"] if others else [])])


def _short(name: str) -> str:
    """Shorten a name to 28 letters for a lane's note: first without its namespace, then cut."""
    last = name if len(name) <= 28 else name.rpartition("::")[2]
    return last if len(last) <= 28 else f"{last[:27]}…"


def _outermost(ranges: Sequence[Row]) -> list[Row]:
    outer: list[Row] = []
    for row in ranges:
        if not outer or row["start_seconds"] >= trace.span(outer[-1])[1]:
            outer.append(row)
    return outer


def _closer_look(work: Sequence[Row], window: trace.Span | None, name: str) -> tuple[str, trace.Span]:
    """Return the heading and the span of the detail: `window`, else the twenty pieces of work closest together."""
    if window:
        return name, window
    count = min(20, len(work))
    spans = [(work[i]["start_seconds"], trace.span(work[i + count - 1])[1]) for i in range(len(work) - count + 1)]
    return f"the densest {count} pieces of work", min(spans, key=lambda span: span[1] - span[0])
