"""The plans of the page "Teach a class": their minutes are those of the lessons, and fill the hours."""

import re
from pathlib import Path

import pytest

from fourways import lesson

PLANS = {"90 minutes": 90, "Half a day": 4 * 60, "Two days": 2 * 6 * 60, "A term": 15 * 90}
"""The minutes of each plan's column `class`."""


def plan(root: Path, name: str) -> list[list[str]]:
    """Return the rows of a plan: minutes in class, minutes to read, lessons, and sections unless all rows mean all."""
    page = (root / "book" / "teach_a_class.md").read_text("utf-8")
    _, table, *_ = page.partition(f"**{name}")[2].split("\n\n")
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]


def minutes(shown: str) -> int:
    """Return the minutes of a lesson's core. The page names a lesson by its number or the start of its title."""
    return next(
        page.meta["minutes"]
        for page in lesson.lessons_and_pages()
        if page.number == shown or page.title.startswith(shown)
    )


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_takes_the_minutes_of_its_lessons(root: Path, name: str) -> None:
    rows = plan(root, name)
    assert sum(int(in_class) for in_class, *_ in rows) == PLANS[name]
    read_of_parts: dict[str, int] = {}
    for _, read, lessons, *sections in rows:
        if not sections or re.match(r"all\b", sections[0]):
            assert int(read) == sum(map(minutes, lessons.split(", "))), lessons
        elif read != "–":
            read_of_parts[lessons] = read_of_parts.get(lessons, 0) + int(read)
    for each, read_minutes in read_of_parts.items():
        assert read_minutes <= minutes(each), f"{each}: parts take longer than the whole"
