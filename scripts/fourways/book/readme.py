"""The parts of the README that are made, not typed: the table of lessons, and the figure from the recorded run."""

import json
import re
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

from fourways import figures, files, kernels, stages
from fourways.book.build import lesson_table

FIGURE = Path("book", "figures", "first_result.svg")
_MARKED = re.compile(r"(<!-- lessons:.*?-->\n).*?(<!-- /lessons -->)", re.DOTALL)


def readme(text: str) -> str:
    """`text` of a README with today's table between its markers. Raises ValueError where the markers are gone."""
    if not _MARKED.search(text):
        raise ValueError("README.md has no `<!-- lessons: ... -->` and `<!-- /lessons -->` around its table")
    return _MARKED.sub(lambda match: match[1] + lesson_table("lessons/{}.md") + match[2], text)


def first_results() -> tuple[dict[str, dict[str, dict[str, float]]], str]:
    """Lesson 01's first results in the newest recording, `{"cold": {"nvrtc": {stage: seconds}}}`, and its device.

    Raises FileNotFoundError where lesson 01 has not been recorded.
    """
    recorded = [json.loads(path.read_text()) for path in (kernels.root() / "book" / "results").glob("*/01_*.json")]
    if not recorded:
        raise FileNotFoundError("lesson 01 has not been recorded: `make record` on a GPU machine")
    newest = max(recorded, key=lambda content: content["stamp"]["date"])
    panels: dict[str, dict[str, dict[str, float]]] = {"cold": {}, "warm": {}}
    for row in newest["tables"]["first_result"]:
        if row["way"] != "host":
            panels[row["state"]][row["way"]] = {stage: row["stages"][stage] for stage in stages.STAGES}
    return panels, newest["stamp"]["device"]


def first_result_figure() -> str:
    """The README's figure, as SVG text."""
    panels, device = first_results()
    titled = {
        "nothing compiled yet": panels["cold"],
        "compiled before: caches filled, module built": panels["warm"],
    }
    title = f"From process start to the first result of a small kernel, {device}"
    figure = figures.stacked_bars(titled, "seconds (host clock)", title)
    drawn = StringIO()
    figure.savefig(drawn, format="svg", facecolor="white", metadata={"Date": None, "Creator": None})
    return drawn.getvalue()


def main(_: Sequence[str]) -> None:
    """Write the table into README.md, and the figure."""
    path = kernels.root() / "README.md"
    files.write_text(kernels.root() / FIGURE, first_result_figure())
    files.write_text(path, readme(path.read_text(encoding="utf-8")))

