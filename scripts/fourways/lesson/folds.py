"""The folded parts of a page: sections that go deeper, and outputs that give away the answer to a question.

A section whose heading begins with `Deeper` ends before the next heading of its level or above. Both headings begin a
cell. A question is a box of the class `predict`; its answer is the next `{dropdown} Answer`. The code cells between
the two show the answer.
"""

import re
from typing import Any

_HEADING = re.compile(r"(#{2,}) (.+)")
_SIGN = re.compile(r"^:{3,}\{(?:admonition\} .*\n:class: (?P<question>predict)|dropdown\} Answer)$", re.MULTILINE)


def deeper(notebook: Any) -> list[bool]:
    """Return for each cell of a notebook whether it belongs to a section that goes deeper."""
    level, folded = 0, []
    for cell in notebook.cells:
        heading = _HEADING.match(cell.source) if cell.cell_type == "markdown" else None
        if heading and (not level or len(heading[1]) <= level):
            level = len(heading[1]) if heading[2].startswith("Deeper") else 0
        folded.append(bool(level))
    return folded


def asked(notebook: Any) -> list[bool]:
    """Return for each cell of a notebook whether it is a code cell that shows the answer to a question."""
    pending, shown = False, []
    for cell in notebook.cells:
        shown.append(pending and cell.cell_type == "code")
        if cell.cell_type == "markdown":
            for sign in _SIGN.finditer(cell.source):
                pending = bool(sign["question"])
    return shown
