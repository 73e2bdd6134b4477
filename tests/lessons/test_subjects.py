"""The subjects that the project was made from: for each one, a lesson or page whose executed cells use it.

A program may stand in a text, so strings count. Comments do not.
"""

import functools
import io
import re
import tokenize
from pathlib import Path

import pytest
import yaml

from fourways import lesson

SUBJECTS = yaml.safe_load((Path(__file__).parents[1] / "data" / "subjects.yml").read_text(encoding="utf-8"))
"""Of each subject: its name, the lesson, what its cells hold; and perhaps a helper's file, and what that holds."""


def without_comments(code: str) -> str:
    """Return a Python text without its comments."""
    lines = code.splitlines()
    python = re.sub(r"(?m)^(\s*)[!%].*$", r"\1pass", code)
    for token in tokenize.generate_tokens(io.StringIO(python).readline):
        if token.type == tokenize.COMMENT:
            row, start = token.start
            lines[row - 1] = lines[row - 1][:start].rstrip()
    return "\n".join(lines)


@functools.cache
def executed(name: str) -> list[str]:
    """Return the code of each cell of a lesson, but not of those tagged `wrong`."""
    return [without_comments(cell.source) for cell in lesson.find(name).notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("row", SUBJECTS, ids=[row[0] for row in SUBJECTS])
def test_a_lesson_uses_the_subject(row: list[str], root: Path) -> None:
    _, name, in_a_cell, *helper = row
    assert any(re.search(in_a_cell, cell) for cell in executed(name)), f"no cell of {name} has {in_a_cell}"
    if helper:
        file, in_the_file = helper
        text = (root / file).read_text(encoding="utf-8")
        text = without_comments(text) if file.endswith(".py") else re.sub("//.*", "", text)
        assert re.search(in_the_file, text), f"{file} lacks {in_the_file}"
