"""What a lesson measures, builds, profiles or links stands on its page, and a program to take along ends it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cell_python
import pytest

from fourways import kernels, lesson

EXEMPT = {"lesson.collect", "checking.check", "checking.exercise", "kernels.source", "kernels.path", "host.compile"}
EXEMPT |= {"toolchain.activate", "tables", "figures", "exercises", "Table"}
"""Names whose text a page need not show: whole modules, or single functions."""
PROGRAMS = kernels.root() / "lessons" / "programs"
PARTS = ["Just in time or ahead of time?", "Exercises", "To keep", "Take it with you", "Sources"]


@pytest.fixture(params=lesson.all_lessons(), ids=lambda each: each.slug)
def page(request: pytest.FixtureRequest) -> lesson.Lesson:
    return request.param


def ours(notebook: Any) -> dict[str, str]:
    """Return each name that the cells import from `fourways`, with its full name."""
    named: dict[str, str] = {}
    for cell in notebook.cells:
        for node in ast.walk(cell_python.tree(cell.source)) if cell.cell_type == "code" else ():
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "fourways":
                inside = (node.module or "").removeprefix("fourways").lstrip(".")
                named |= {each.asname or each.name: f"{inside}.{each.name}".lstrip(".") for each in node.names}
    return named


def called(source: str, named: dict[str, str]) -> Iterator[str]:
    """Yield the helpers that a cell calls, or hands on, by their full names: `timing.on_gpu`."""
    loads = [node for node in ast.walk(cell_python.tree(source)) if isinstance(getattr(node, "ctx", None), ast.Load)]
    owners = {id(node.value) for node in loads if isinstance(node, ast.Attribute)}
    for node in loads:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in named:
            yield f"{named[node.value.id]}.{node.attr}"
        elif isinstance(node, ast.Name) and node.id in named and id(node) not in owners:
            yield named[node.id]


def is_exempt(name: str) -> bool:
    parts = name.split(".")
    return any(".".join(parts[:end]) in EXEMPT for end in range(1, len(parts) + 1))


def test_a_helper_has_its_text_below_its_first_use(page: lesson.Lesson) -> None:
    named, seen, due = ours(page.notebook), set[str](), set[str]()
    for cell, is_deeper in zip(page.notebook.cells, lesson.deeper(page.notebook), strict=True):
        if cell.cell_type == "markdown":
            shown = {f"{each.path.stem}.{each.name}" for each in lesson.included(page, cell.source)}
            assert not due - shown, f"below the cell that uses them, include the text of {sorted(due - shown)}"
            due = set()
        elif not is_deeper and not {"exercise", "solution"} & set(lesson.tags(cell)):
            names = {".".join(name.split(".")[-2:]) for name in called(cell.source, named) if not is_exempt(name)}
            due |= names - seen
            seen |= names
    assert not due


def test_what_is_shown_is_short(page: lesson.Lesson) -> None:
    for cell in page.notebook.cells:
        for each in lesson.included(page, cell.source) if cell.cell_type == "markdown" else ():
            if each.name:
                assert len(each.text.splitlines()) <= 40, each.name


def programs_of(page: lesson.Lesson) -> list[Path]:
    """Return the files of the program that a lesson gives to take along."""
    (entry,) = PROGRAMS.glob(f"{page.number}_*")
    return sorted(each for each in entry.rglob("*") if each.is_file()) if entry.is_dir() else [entry]


def test_a_program_to_take_along_stands_on_the_page(page: lesson.Lesson) -> None:
    """It is short, needs nothing of ours, and judges its own answer."""
    text = "\n\n".join(cell.source for cell in page.notebook.cells if cell.cell_type == "markdown")
    _, _, section = text.partition("\n## Take it with you\n")
    shown = [each.path for each in lesson.included(page, section.split("\n## ")[0])]
    files = programs_of(page)
    assert set(files) <= set(shown)
    assert "fourways" not in "".join(file.read_text() for file in files)
    python = [file.read_text() for file in files if file.suffix == ".py"]
    assert sum(len(each.splitlines()) for each in python) <= 105
    assert max(len(line) for file in files for line in file.read_text().splitlines()) <= 96  # a page shows it whole
    assert any(isinstance(node, ast.Assert) for each in python for node in ast.walk(ast.parse(each)))


def test_the_parts_stand_in_order_and_one_question_waits(page: lesson.Lesson) -> None:
    text = "\n\n".join(cell.source for cell in page.notebook.cells if cell.cell_type == "markdown")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert [each for each in headings if each in PARTS] == PARTS
    assert text.count(":::{admonition} The bet") == 1
    assert "{dropdown} Answer" not in text
    assert sum(each.startswith("Deeper") for each in headings) <= 2
