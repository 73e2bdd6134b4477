"""The generated parts of the README: the table of lessons, and the figure from the recorded run of lesson 01."""

import json
import re
import sys
from typing import Any

from fourways import figures, files, kernels, timing
from fourways.book.build import lesson_table
from fourways.ways import is_host

_MARKED = re.compile(r"(<!-- lessons:.*?-->\n).*?(<!-- /lessons -->)", re.DOTALL)


def main() -> None:
    """Write the table into README.md and the figure to `book/figures`. Exits with a message if it cannot."""
    path = kernels.root() / "README.md"
    text, tables = _MARKED.subn(
        lambda match: match[1] + lesson_table("lessons/{}.md") + match[2], path.read_text(encoding="utf-8")
    )
    if not tables:
        sys.exit("README.md has no `<!-- lessons: ... -->` and `<!-- /lessons -->` around its table")
    figures.save(_first_result_figure(), kernels.root() / "book" / "figures" / "first_result.svg")
    files.write_text(path, text)


def _first_result_figure() -> Any:
    """Draw the first results in lesson 01's newest recording, without the host way."""
    results = kernels.root() / "book" / "results"
    recorded = [json.loads(path.read_text()) for path in results.glob("*/01_doublify.json")]
    if not recorded:
        sys.exit("lesson 01 has not been recorded: `make record` on a GPU machine")
    newest = max(recorded, key=lambda content: content["stamp"]["date"])
    rows = [row for row in newest["tables"]["first_result"] if not is_host(row["way"])]
    return timing.first_result_figure(rows, f"doublify, {newest['stamp']['device']}")
