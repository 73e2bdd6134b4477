"""The style of every plot, and the kinds of plots that lessons draw. Each function returns a matplotlib figure."""

import re
from collections.abc import Callable, Mapping, Sequence
from html import unescape
from io import BytesIO
from math import inf
from pathlib import Path
from textwrap import fill, shorten
from typing import Any

from fourways import files

COLOURS: dict[str, str] = {}
"""The colour of each way in every plot."""

STAGE_COLOURS = ("#BBBBBB", "#CC79A7", "#999933", "#332288", "#D55E00", "#882255", "#000000")
"""Colours for the stages of a run, in order; none is the colour of a way. `book/_ext/dark_charts.py` has dark ones."""

_TITLE_WIDTH = 44
"""Letters in a line of a title: a viewer's font may be wider than the font of the layout."""

_SAME_LINE = 5  # points between a bar's label and the text at its end, at most


def _axes(rows: Sequence[int], title: str) -> Any:
    """Make panels above each other; `rows` is the number of bars in each."""
    title = fill(title, _TITLE_WIDTH)
    height = 0.6 + 0.2 * len(title.splitlines()) + sum(0.6 + 0.26 * count for count in rows)
    size = (4.8, height)  # inches: readable on a phone, too
    figure, axes = new(size, len(rows), height_ratios=rows, squeeze=False)
    figure.suptitle(title)
    return axes[:, 0]


def new(size: tuple[float, float], rows: int = 1, columns: int = 1, **options: Any) -> tuple[Any, Any]:
    """Return an empty figure of `size` inches in our style, and its axes, both as `pyplot.subplots` does.

    `options` are for it, too. pyplot does not show the figure itself.
    """
    import matplotlib.pyplot as plt

    style()
    figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained", **options)
    plt.close(figure)
    return figure, axes


def save(figure: Any, path: Path) -> None:
    """Write a figure to an SVG file, whole or not at all."""
    content = BytesIO()
    figure.savefig(content, format="svg", metadata={"Date": None, "Creator": None})
    files.write_bytes(path, content.getvalue())


def description(svg: str) -> str:
    """Return the words of a figure as its alternative text: the title, then line by line, without an axis's numbers.

    `svg` is a figure as `save` writes it, with its words as text.
    """
    place = r'transform="(?:translate\(|rotate\(\S+ )([-\d.]+) ([-\d.]+)\)"'
    found = re.findall(rf'<text style="font-size: ([\d.]+)px[^>]*{place}>([^<>\n]+)</text>', svg)
    words = sorted(((float(y), float(x), float(size), unescape(word)) for size, x, y, word in found))
    largest = max((size for _, _, size, _ in words), default=0)
    lines: list[list[tuple[float, str]]] = []
    last = -inf
    for y, x, size, word in words:
        if size == largest or re.fullmatch(r"[−\d., ]+", word):
            continue
        if y - last > _SAME_LINE:
            lines.append([])
            last = y
        lines[-1].append((x, word))
    title = " ".join(word for _, _, size, word in words if size == largest)
    return shorten(f"{title}: {'; '.join(' '.join(word for _, word in sorted(line)) for line in lines)}", 400)


def style() -> None:
    """Set the style of all plots: SVG in notebooks (the same bytes for the same data), no box, a light grid."""
    import matplotlib as mpl
    from matplotlib_inline.backend_inline import set_matplotlib_formats

    set_matplotlib_formats("svg", metadata={"Date": None, "Creator": None})
    mpl.rcParams.update(
        {
            "svg.hashsalt": "fourways",
            "svg.fonttype": "none",
            "font.family": "sans-serif",
            "font.size": 9,
            "figure.dpi": 100,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.grid.axis": "x",
            "grid.alpha": 0.3,
            "axes.axisbelow": True,
            "legend.frameon": False,
            "legend.handlelength": 1.0,
            "legend.handletextpad": 0.4,
            "legend.columnspacing": 1.0,
        }
    )


def stacked_bars(
    panels: Mapping[str, Mapping[str, Mapping[str, float]]],
    xlabel: str,
    title: str,
    ranges: Mapping[str, Mapping[str, tuple[float, float]]] | None = None,
) -> Any:
    """Draw horizontal bars made of stages, one panel above the other: `panels[panel][bar][stage]` is a length.

    A bar's length, in seconds, stands at its end. Each panel has its own scale. The stages, at most seven, keep their
    order and colours. `ranges[panel][bar]` is drawn as a line from the first length to the second.
    """
    axes = _axes([len(bars) for bars in panels.values()], title)
    stages = list(dict.fromkeys(stage for bars in panels.values() for parts in bars.values() for stage in parts))
    for ax, (panel, bars) in zip(axes, panels.items(), strict=True):
        labels = list(bars)
        left = [0.0] * len(labels)
        for number, stage in enumerate(stages):
            widths = [bars[label].get(stage, 0.0) for label in labels]
            look = {"color": STAGE_COLOURS[number], "edgecolor": "white", "linewidth": 0.5}
            ax.barh(labels, widths, left=left, label=stage, **look)
            left = [start + width for start, width in zip(left, widths, strict=True)]
        spread = ranges[panel] if ranges else {}
        for place, label in enumerate(labels):
            if label in spread:
                ax.plot(spread[label], [place, place], color="#000000", linewidth=1, marker="|", label="_")
            end = max((left[place], *spread.get(label, ())))
            ax.annotate(f"{left[place]:#.3g} s", (end, place), (4, 0), textcoords="offset points", va="center")
        ax.margins(x=0.12)
        ax.invert_yaxis()
        ax.set_title(panel, loc="left", fontsize=8)
    axes[-1].set_xlabel(xlabel)
    handles, names = axes[0].get_legend_handles_labels()
    axes[0].figure.legend(handles, names, ncols=4, loc="outside lower center")
    return axes[0].figure


def bars(panels: Mapping[str, Mapping[str, float]], show: Any, colours: Mapping[str, str], title: str) -> Any:
    """Draw horizontal bars, one panel above the other: `panels[panel][bar]` is a length.

    `show(value)` is the text at a bar's end. `colours[bar]` is its colour, or it is grey. Each panel has its own scale.
    """
    axes = _axes([len(values) for values in panels.values()], title)
    for ax, (panel, values) in zip(axes, panels.items(), strict=True):
        drawn = ax.barh(list(values), list(values.values()), color=[colours.get(bar, "#777777") for bar in values])
        ax.bar_label(drawn, [show(value) for value in values.values()], padding=4, fontsize=8)  # points
        ax.margins(x=0.2)
        ax.set_xticks([])
        ax.spines["bottom"].set_visible(False)
        ax.invert_yaxis()
        ax.set_title(panel, loc="left", fontsize=8)
    return axes[0].figure


def dots(
    ranges: Mapping[str, tuple[float, float, float]],
    show: Callable[[float], str],
    colours: Mapping[str, str],
    title: str,
) -> Any:
    """Draw `ranges[name]`, a middle, a low and a high value, as a dot on a line; the axis is logarithmic.

    `show(value)` is the text beside a dot. `colours[name]` is a dot's colour, black if it has none.
    """
    from matplotlib.ticker import LogLocator

    (ax,) = _axes([len(ranges)], title)
    for place, (name, (middle, low, high)) in enumerate(ranges.items()):
        colour = colours.get(name, "#333333")
        ax.plot([low, high], [place, place], color=colour, linewidth=1.5)
        ax.plot([middle], [place], "o", color=colour, markersize=6)
        ax.annotate(show(middle), (middle, place), (0, 6), textcoords="offset points", ha="center", fontsize=8)
    ax.set_xscale("log")
    ax.set_yticks(range(len(ranges)), list(ranges))
    ax.margins(x=0.15, y=0.3 / len(ranges) + 0.1)
    ax.invert_yaxis()
    low, high = ax.get_xlim()
    ax.xaxis.set_major_locator(LogLocator(10, (1, 3) if high < 100 * low else (1,)))  # labels need room
    ax.xaxis.set_major_formatter(lambda value, _: show(value))
    ax.xaxis.set_minor_formatter(lambda value, _: "")
    return ax.figure


def lines(
    series: Mapping[str, Sequence[tuple[float, float]]], xlabel: str, ylabel: str, show: Any, title: str, roof: str = ""
) -> Any:
    """Draw lines on two logarithmic axes: `series[name]` is pairs of x and y; `show(value)` is the text of a y tick.

    The series named `roof` is dashed: it is the bound of the others.
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    (ax,) = _axes([9], title)
    for number, (name, points) in enumerate(series.items()):
        colour = COLOURS.get(name, "#000000" if name == roof else STAGE_COLOURS[1 + number % 6])
        # markers get smaller, so that all are visible where lines coincide
        nested = {"marker": "osD^v"[number % 5], "markersize": max(2.0, 7.5 - 1.5 * number)}
        look = {"linestyle": "--", "zorder": 1} if name == roof else nested
        ax.plot(*zip(*points, strict=True), color=colour, label=name, linewidth=1.2, **look)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(10, (1, 2, 5)))
    ax.yaxis.set_major_formatter(lambda value, _: show(value))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.grid(True, axis="y")
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.figure.legend(ncols=3, loc="outside lower center")
    return ax.figure


def roofline(
    points: Mapping[str, tuple[float, float]], peak_bytes: float, peak_flops: Mapping[str, float], title: str
) -> Any:
    """Draw kernels below the roofs of their GPU: `points[name]` is FLOP/byte and FLOP/s.

    `peak_bytes` (bytes/s) is the sloped roof, `peak_flops[precision]` (FLOP/s) the flat roofs.
    """
    (ax,) = _axes([9], title)
    xs = [x for x, _ in points.values()]
    ridge = max(peak_flops.values()) / peak_bytes
    left, right = min(0.1, *xs) / 3, 10 * max(ridge, *xs)
    ax.plot([left, ridge], [left * peak_bytes, ridge * peak_bytes], color="#000000", linewidth=1.2)
    middle, beside = (left * ridge) ** 0.5, {"textcoords": "offset points", "ha": "right", "fontsize": 8}
    ax.annotate(f"DRAM, {peak_bytes / 1e12:.3g} TB/s", (middle, middle * peak_bytes), xytext=(-8, 0), **beside)
    for precision, peak in peak_flops.items():
        ax.plot([peak / peak_bytes, right], [peak, peak], color="#000000", linewidth=1.2)
        ax.annotate(f"{precision}, {peak / 1e12:.3g} TFLOP/s", (right, peak), xytext=(0, 4), **beside)
    for number, (name, (x, y)) in enumerate(points.items()):
        ax.plot(x, y, "o^sDv"[number % 5], color=STAGE_COLOURS[1 + number % 6], label=name)
    ax.set(xscale="log", yscale="log", xlabel="FLOP per byte of DRAM", ylabel="FLOP/s")
    ax.margins(y=0.1)
    ax.grid(True, axis="y")
    ax.figure.legend(ncols=2, loc="outside lower center")
    return ax.figure
