"""Each way's particulars stand in its own module."""

import ast
from pathlib import Path

import pytest

from fourways import figures
from fourways.ways import WAYS


def test_no_other_package_asks_which_way_it_is(root: Path) -> None:
    asked = []
    for file in (root / "scripts" / "fourways").rglob("*.py"):
        if "ways" in file.parent.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                constants = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
                names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
                names |= {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
                asked += [f"{file}:{node.lineno}"] if constants & WAYS.keys() and "way" in names else []
    assert asked == []


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
def test_a_way_says_all_of_itself(way: object) -> None:
    assert way.label and way.needs and figures.COLOURS[way.name] == way.colour
