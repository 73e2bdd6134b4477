"""The look of every plot, and the few shapes the lessons draw: data in, matplotlib figure out."""

from collections.abc import Mapping, Sequence
from typing import Any

COLOURS = {"nvrtc": "#0072B2", "nvcc": "#56B4E9", "pycuda": "#E69F00", "pybind11": "#009E73", "host": "#777777"}
"""One colour for each way, everywhere (Okabe and Ito's palette, readable with any colour vision)."""

STAGE_COLOURS = ("#BBBBBB", "#CC79A7", "#DDCC77", "#332288", "#D55E00", "#882255", "#000000")
"""Colours for the stages of one run, in order; none of them is a way's."""


_TIGHT = {"handlelength": 1.0, "handletextpad": 0.4, "columnspacing": 1.0}  # between the words of a legend


def _axes(rows: Sequence[int]) -> Any:
    """Panels above each other, each with room for so many bars; not shown until a cell returns their figure."""
    import matplotlib.pyplot as plt

    style()
    size = (4.8, 0.8 + sum(0.6 + 0.26 * count for count in rows))  # inches: readable on a phone, too
    figure, axes = plt.subplots(len(rows), figsize=size, layout="constrained", height_ratios=rows, squeeze=False)
    plt.close(figure)
    return axes[:, 0]


def style() -> None:
    """Set the style of all plots: SVG in notebooks (the same bytes for the same data), no box, light grid."""
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
        }
    )


def stacked_bars(panels: Mapping[str, Mapping[str, Mapping[str, float]]], xlabel: str, title: str) -> Any:
    """Horizontal bars made of stages, one panel above the other: `panels[panel][bar][stage]` in seconds.

    Each panel has its own scale; the stages keep their order and colours.
    """
    axes = _axes([len(bars) for bars in panels.values()])
    stages = list(dict.fromkeys(stage for bars in panels.values() for parts in bars.values() for stage in parts))
    for ax, (panel, bars) in zip(axes, panels.items(), strict=True):
        labels = list(bars)
        left = [0.0] * len(labels)
        for stage, colour in zip(stages, STAGE_COLOURS, strict=False):
            widths = [bars[label].get(stage, 0.0) for label in labels]
            ax.barh(labels, widths, left=left, color=colour, label=stage, edgecolor="white", linewidth=0.5)
            left = [start + width for start, width in zip(left, widths, strict=True)]
        for label, total in zip(labels, left, strict=True):
            ax.annotate(f"{total:#.3g} s", (total, label), xytext=(4, 0), textcoords="offset points", va="center")
        ax.margins(x=0.12)
        ax.invert_yaxis()
        ax.set_title(panel, loc="left", fontsize=8)
    axes[-1].set_xlabel(xlabel)
    axes[0].figure.suptitle(title)
    handles, names = axes[0].get_legend_handles_labels()
    axes[0].figure.legend(handles, names, ncols=4, loc="outside lower center", frameon=False, **_TIGHT)
    return axes[0].figure


def log_bars(groups: Mapping[str, Mapping[str, float]], ways: Sequence[str], xlabel: str, title: str) -> Any:
    """Horizontal bars on a log axis: `groups[group][way]` in seconds, a cluster of bars for each way."""
    (axes,) = _axes([len(ways) * len(groups)])
    height = 0.8 / len(groups)
    for index, (group, values) in enumerate(groups.items()):
        present = [(position, way) for position, way in enumerate(ways) if way in values]
        places = [position + (index - (len(groups) - 1) / 2) * height for position, _ in present]
        widths = [values[way] for _, way in present]
        axes.barh(
            places,
            widths,
            height * 0.92,
            color=[COLOURS[way] for _, way in present],
            alpha=1.0 if index == 0 else 0.45,
        )
        for place, width in zip(places, widths, strict=True):
            text = f"{width * 1e3:.3g} ms · {group}" if width < 1 else f"{width:.3g} s · {group}"
            axes.annotate(text, (width, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(ways)), ways)
    axes.margins(x=0.35)
    axes.invert_yaxis()
    axes.set(xlabel=xlabel, title=title)
    return axes.figure
