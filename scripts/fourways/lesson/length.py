"""How long a lesson takes, counted: not how long its author hopes."""

import re
from typing import NamedTuple

from fourways.lesson.folds import deeper
from fourways.lesson.notebook import Lesson, tags

WORDS, LINES, CELLS = 150, 10, 4
"""In a minute: words of prose read, lines of code read, cells run and looked at. Our own figures, of no study: prose
that explains code is read at less than the 238 words a minute of other prose (Brysbaert, 2019)."""
EXERCISE = 6
"""Minutes for an exercise, its solution read as well."""
FORMULA = (
    f"Minutes are counted: one for {WORDS} words to read, {LINES} lines of code or {CELLS} cells to run, {EXERCISE} "
    "for an exercise; behind a + stand those of the sections that go deeper, which are folded away."
)
"""The counting of minutes in one sentence, for who reads them."""


class Length(NamedTuple):
    """Minutes of a lesson: of what stands open, and of what its sections marked "Deeper" add."""

    core: int
    deeper: int

    def __str__(self) -> str:
        """`45`, or `45 + 20` where sections go deeper."""
        return f"{self.core} + {self.deeper}" if self.deeper else str(self.core)


def length(found: Lesson) -> Length:
    """The minutes of a lesson, by its words of prose, lines of code, cells to run and exercises.

    Code that is folded away does not count (solutions, cells tagged `hide-input`), nor do blank lines.
    """
    minutes = [0.0, 0.0]
    for cell, is_deeper in zip(found.notebook.cells, deeper(found.notebook), strict=True):
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
