"""The minutes that a lesson takes, counted from its words, lines of code, cells and exercises."""

import re
from typing import NamedTuple

from fourways.lesson.folds import deeper
from fourways.lesson.notebook import Lesson, tags

WORDS, LINES, CELLS = 150, 10, 4
"""Words of prose, lines of code and cells that a reader manages in a minute. These are our own estimates: people read
other prose at 238 words a minute (Brysbaert, 2019), and prose that explains code more slowly."""
EXERCISE = 6
"""Minutes for an exercise and for reading its solution."""
FORMULA = (
    f"Minutes are counted: one for {WORDS} words to read, {LINES} lines of code or {CELLS} cells to run, {EXERCISE} "
    "for an exercise. The minutes after + are for the optional sections that go deeper, which are folded."
)
"""The rule for minutes, as readers of the lessons' table see it."""


class Length(NamedTuple):
    """The minutes of a lesson: of its core, and of its sections marked "Deeper"."""

    core: int
    deeper: int

    def __str__(self) -> str:
        """Return `45`, or `45 + 20` if sections go deeper."""
        return f"{self.core} + {self.deeper}" if self.deeper else str(self.core)


def length(lesson: Lesson) -> Length:
    """Return the minutes of a lesson.

    Folded code (solutions, cells tagged `hide-input`) and blank lines do not count.
    """
    minutes = [0.0, 0.0]
    for cell, is_deeper in zip(lesson.notebook.cells, deeper(lesson.notebook), strict=True):
        minutes[is_deeper] += _minutes(cell.source, cell.cell_type == "code", tags(cell))
    return Length(*map(round, minutes))


def _minutes(source: str, is_code: bool, its_tags: list[str]) -> float:
    if "solution" in its_tags:
        return 0
    if "exercise" in its_tags:
        return EXERCISE
    if is_code:
        return 1 / CELLS + (0 if "hide-input" in its_tags else _lines(source) / LINES)
    fenced = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
    code = [block for block in fenced.findall(source) if not block.startswith("```{")]
    return (
        len(re.findall(r"[\w'-]+", fenced.sub("", source))) / WORDS + sum(_lines(block) - 2 for block in code) / LINES
    )


def _lines(text: str) -> int:
    return sum(bool(line.strip()) for line in text.splitlines())
