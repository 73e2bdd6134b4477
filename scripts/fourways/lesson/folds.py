"""The folded sections of a page: those whose heading begins with `Deeper`.

Such a section ends before the next heading of its level or above. Both headings begin a cell.
"""

import re
from typing import Any

_HEADING = re.compile(r"(#{2,}) (.+)")


def deeper(notebook: Any) -> list[bool]:
    """Return for each cell of a notebook whether it belongs to a section that goes deeper."""
    level, folded = 0, []
    for cell in notebook.cells:
        heading = _HEADING.match(cell.source) if cell.cell_type == "markdown" else None
        if heading and (not level or len(heading[1]) <= level):
            level = len(heading[1]) if heading[2].startswith("Deeper") else 0
        folded.append(bool(level))
    return folded
