"""The figure of the README and of the book's first page: what the four ways take, by lessons 00 and 01."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fourways import figures, kernels, lesson, tables
from fourways.book import merge
from fourways.tables import Row
from fourways.ways import WAYS, is_host

THEMES = {"light": ("#1F2328", "#D0D7DE"), "dark": ("#E6EDF3", "#3D444D")}
"""The colours of text and lines, by theme."""
WIDTHS = {"wide": (7.68, 4), "narrow": (3.58, 2)}
"""Inches and panels in a row: for a page and for a phone."""
NOTE = (
    "Lessons 00 and 01 measure this: medians, and bands from the 10th to the 90th percentile. The scale of the first "
    "panel is logarithmic. With pybind11, an edit means to build the module and start Python again. A first result "
    "comes from a fresh process, with everything built. A launch keeps the host busy for the time shown."
)
"""What stands below the figure."""
_LESSONS = ("00_two_workflows", "01_doublify")


class Panel(NamedTuple):
    """A quantity: the summaries of its samples in seconds, by way, and the unit in which it is drawn."""

    title: str
    seconds: Mapping[str, Row]
    unit: float = 1.0
    format: str = "{:.2g}"
    is_log: bool = False


def recorded() -> list[Path]:
    """Return the recorded notebooks of lessons 00 and 01. Raises FileNotFoundError."""
    paths = [kernels.root() / "book" / "recorded" / f"{slug}.ipynb" for slug in _LESSONS]
    if missing := [path.stem for path in paths if not path.is_file()]:
        raise FileNotFoundError(f"lesson {missing[0][:2]} has not been recorded: `make record` on a GPU machine")
    return paths


def panels(notebooks: Sequence[Path]) -> list[Panel]:
    """Return the four quantities from the notebooks of lessons 00 and 01."""
    loops, first = map(lesson.rows, notebooks)
    timing = [row for row in first["timing"] if row["way"] in WAYS and not is_host(row["way"])]
    edits = {row["way"]: row["seconds"] for row in loops["edit_loop"] if row["loop"] == "running process"}
    restarted = {row["way"]: row["seconds"] for row in loops["edit_loop"] if row["way"] not in edits}
    warm = [row for row in first["first_result"] if row["state"] == "warm" and not is_host(row["way"])]
    return [
        Panel("edit to result, s", edits | restarted, is_log=True),
        Panel("first result, s", {row["way"]: row["seconds"] for row in warm}),
        Panel("a launch, µs", {row["way"]: row["launch_seconds"] for row in timing}, 1e-6, "{:.1f}"),
        Panel("the kernel, µs", {row["way"]: row["seconds"] for row in timing}, 1e-6, "{:.0f}"),
    ]


def conclusion(shown: Sequence[Panel]) -> str:
    """Return what the figure shows in one line, with its numbers."""
    edits, kernel = ([row["median"] for row in panel.seconds.values()] for panel in (shown[0], shown[-1]))
    times = " to ".join(dict.fromkeys(f"{bound(kernel) * 1e6:.0f}" for bound in (min, max)))
    waits = f"The wait after an edit differs {max(edits) / min(edits):.0f}\u2011fold."
    return f"The kernel takes {times} µs in all four ways. {waits}"


def description(shown: Sequence[Panel]) -> str:
    """Return the figure's alternative text: all medians."""
    texts = []
    for panel in shown:
        medians = (f"{WAYS[way].short} {tables.seconds(row['median'])}" for way, row in panel.seconds.items())
        texts.append(f"{panel.title.rpartition(',')[0]}: {', '.join(medians)}")
    return "; ".join(texts)


def draw(shown: Sequence[Panel], theme: str, width: str) -> Any:
    """Draw a dot for each way's median and a band from p10 to p90; every panel has its own scale."""
    (text, line), (inches, columns) = THEMES[theme], WIDTHS[width]
    rows = len(shown) // columns
    figure, axes = figures.new((inches, 0.25 + 1.6 * rows), rows, columns, sharey=True)
    figure.patch.set_alpha(0)
    for ax, panel in zip(axes.flat, shown, strict=True):
        places = range(len(panel.seconds))
        for place, (way, row) in zip(places, panel.seconds.items(), strict=True):
            colour = WAYS[way].colour if theme == "light" else WAYS[way].dark_colour
            low, median, high = (row[key] / panel.unit for key in ("p10", "median", "p90"))
            ax.barh(place, high - low, 0.34, low, color=colour, alpha=0.4)
            ax.plot(median, place, "o", color=colour, markersize=6)
            label = panel.format.format(median)
            ax.annotate(label, (max(high, median), place), (6, 0), textcoords="offset points", va="center", color=text)
        summaries = panel.seconds.values()
        ends = [bound(each[key] for each in summaries) / panel.unit for bound, key in ((min, "p10"), (max, "p90"))]
        if panel.is_log:
            ax.set_xscale("log")
            ax.set_xlim(0.6 * ends[0], 5 * ends[1])
        else:
            ax.set_xlim(0, 1.45 * ends[1])
        ax.set_title(panel.title, loc="left", fontsize=9, fontweight="bold", color=text)
        ax.set_yticks(places, [WAYS[way].short for way in panel.seconds])
        ax.tick_params(length=0, labelcolor=text)
        ax.set_xticks([])
        ax.set_xticks([], minor=True)
        ax.grid(False)
        ax.patch.set_alpha(0)
        ax.spines[["bottom"]].set_visible(False)
        ax.spines["left"].set_color(line)
    axes.flat[0].invert_yaxis()
    return figure


def save(shown: Sequence[Panel], folder: Path) -> None:
    """Write the figure for each theme and width to `overview_THEME_WIDTH.svg` in `folder`."""
    for theme in THEMES:
        for width in WIDTHS:
            figures.save(draw(shown, theme, width), folder / f"overview_{theme}_{width}.svg")


def page() -> str:
    """Return the figure for the book's first page in MyST; nothing if lessons 00 and 01 are not recorded."""
    try:
        notebooks = recorded()
    except FileNotFoundError:
        return ""
    shown = panels(notebooks)
    device = merge.stamp_of(notebooks[1])["device"]
    return f"**{conclusion(shown)}**\n\n{_pictures(shown)}\nMeasured on {device}. {NOTE}\n"


def _pictures(shown: Sequence[Panel]) -> str:
    return "".join(
        f"```{{image}} figures/overview_{theme}_{width}.svg\n:alt: {description(shown)}\n"
        f":class: only-{theme} {width}\n```\n"
        for theme in THEMES
        for width in WIDTHS
    )
