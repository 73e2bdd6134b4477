"""The house: rooms on floors, doors only at their faces, no way in a circle."""

import graphlib
from pathlib import Path

import rooms

FOUND = rooms.package_imports()


def test_every_file_is_in_a_room() -> None:
    there = {path.relative_to(rooms.PACKAGE).parts[0].removesuffix(".py") for path in rooms.PACKAGE.rglob("*.py")}
    assert there - {"__init__", "__main__"} == rooms.FLOOR.keys()


def test_imports_go_down() -> None:
    floor = rooms.FLOOR | {"__main__": len(rooms.FLOORS)}
    up = [f"{each.file.relative_to(rooms.PACKAGE)} imports {each.room}" for each in FOUND if each.by != each.room
          and floor[each.room] >= floor[each.by]]  # fmt: skip
    assert up == []


def test_rooms_are_entered_by_their_faces() -> None:
    inside = [each for each in FOUND if each.by != each.room and each.behind]
    assert inside == []


def test_a_room_does_not_use_its_own_face() -> None:
    faces = [each for each in FOUND if each.by == each.room and not each.behind and each.file.name != "__main__.py"]
    assert [each for each in faces if each.name not in rooms.submodules(each.room)] == []


def test_no_circles() -> None:
    """Files, too: within a room they import each other by name."""
    graph: dict[Path, set[Path]] = {}
    for each in FOUND:
        folder = rooms.PACKAGE / each.room
        inner = each.behind or (each.name if each.by == each.room else "")
        target = folder / f"{inner or '__init__'}.py" if folder.is_dir() else folder.with_suffix(".py")
        graph.setdefault(each.file, set()).add(target)
    list(graphlib.TopologicalSorter(graph).static_order())  # raises CycleError, which names the circle


def test_lessons_and_tests_use_faces() -> None:
    used = [each for file in sorted((rooms.ROOT / "tests").rglob("*.py")) for each in rooms.imports(file)]
    for file in sorted((rooms.ROOT / "lessons").glob("*.md")):
        used += rooms.imports(file, rooms.code(file.read_text(encoding="utf-8")))
    assert [each for each in used if each.behind] == []


def test_few_arrows() -> None:
    assert len(rooms.FLOORS) <= 9
    assert len(rooms.arrows(FOUND)) < 110


def test_the_drawing_is_of_today() -> None:
    drawn = rooms.ROOT / "book" / "figures" / "rooms.svg"
    assert drawn.read_text(encoding="utf-8") == rooms.svg(), "python tests/rooms.py draws it anew"
