"""The packages: in layers, imported by their public names, never in a circle."""

import graphlib
import re
from pathlib import Path

import layers


def test_every_module_is_in_a_layer() -> None:
    there = {path.relative_to(layers.ROOT_PACKAGE).parts[0].removesuffix(".py") for path in layers.files()}
    assert there - {"__init__", "__main__"} == layers.LAYER.keys()


def test_imports_go_down() -> None:
    layer = layers.LAYER | {"__main__": len(layers.LAYERS)}
    up = [f"{each.file.relative_to(layers.ROOT_PACKAGE)} imports {each.package}" for each in layers.package_imports()
          if each.by != each.package and layer[each.package] >= layer[each.by]]  # fmt: skip
    assert up == []


def test_other_packages_are_used_by_their_public_names() -> None:
    assert [each for each in layers.package_imports() if each.by != each.package and each.inner] == []


def test_a_package_does_not_import_from_its_own_init() -> None:
    own = [
        each
        for each in layers.package_imports()
        if each.by == each.package and not each.inner and each.file.name != "__main__.py"
    ]
    assert [each for each in own if each.name not in layers.modules(each.package)] == []


def test_no_circles() -> None:
    """Modules, too: within a package they import each other by name."""
    graph: dict[Path, set[Path]] = {}
    for each in layers.package_imports():
        folder = layers.ROOT_PACKAGE / each.package
        inner = each.inner or (each.name if each.by == each.package else "")
        target = folder / f"{inner or '__init__'}.py" if folder.is_dir() else folder.with_suffix(".py")
        if target != each.file:  # one that imports its neighbour in `experiments/cluster`
            graph.setdefault(each.file, set()).add(target)
    list(graphlib.TopologicalSorter(graph).static_order())  # raises CycleError, which names the circle


def test_lessons_and_tests_use_public_names() -> None:
    """The tests of a package, in the folder of its name, may use its modules."""
    tests = layers.ROOT / "tests"
    used = [each for file in sorted(tests.rglob("*.py")) for each in layers.imports(file)
            if each.package != file.relative_to(tests).parts[0]]  # fmt: skip
    for file in sorted((layers.ROOT / "lessons").glob("*.md")):
        used += layers.imports(file, layers.code(file.read_text(encoding="utf-8")))
    assert [each for each in used if each.inner and each.package != "experiments"] == []


def test_the_drawing_is_of_today() -> None:
    drawn = layers.ROOT / "book" / "figures" / "packages.svg"
    assert drawn.read_text(encoding="utf-8") == layers.svg(), "python tests/layers.py draws it anew"


def test_the_table_for_contributors_has_these_layers() -> None:
    text = (layers.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", text, re.MULTILINE)
    shown = {int(number): layers.LAYER.keys() & set(re.findall(r"`(\w+)`", packages)) for number, packages in rows}
    assert shown == {number: set(packages) for number, packages in enumerate(layers.LAYERS, 1)}
