"""Notebooks for a class: no solutions where none are wanted, all that Jupyter can show, nobody's work overwritten."""

import re
import sys
from pathlib import Path

import nbformat
import pytest

from fourways import checking, lesson

LESSONS = lesson.all_lessons()


@pytest.mark.parametrize("solutions", [False, True])
def test_solutions_only_where_wanted(tmp_path: Path, solutions: bool) -> None:
    paths = lesson.export(LESSONS, tmp_path / "class", solutions)
    assert [path.stem for path in paths] == [found.slug for found in LESSONS]
    for path, found in zip(paths, LESSONS, strict=True):
        notebook = nbformat.read(path, 4)
        nbformat.validate(notebook)
        tags = [tag for cell in notebook.cells for tag in lesson.tags(cell)]
        assert tags.count("solution") == (len(found.cells("solution")) if solutions else 0)
        assert tags.count("exercise") == len(found.cells("exercise")) >= 2
        assert all(not cell.get("outputs") for cell in notebook.cells)


def test_jupyter_can_show_it(tmp_path: Path) -> None:
    for path in lesson.export(LESSONS, tmp_path):
        text = "\n".join(cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown")
        for sign in ("```{", "{cite}", ":::", "../book", "_dark.svg"):
            assert sign not in text, f"{path.name}: {sign}"
    assert "> **The bet**" in (tmp_path / "05_stencil.ipynb").read_text()
    cells = nbformat.read(tmp_path / "01_doublify.ipynb", 4).cells
    assert any("<details><summary>Hint" in cell.source for cell in cells)
    assert any(cell.metadata.get("jupyter", {}).get("source_hidden") for cell in cells)
    collapsed = [cell.source[:9] for cell in cells if cell.metadata.get("jp-MarkdownHeadingCollapsed")]
    assert {*collapsed} == {"## Deeper"}
    assert "([nvrtc](https://docs.nvidia.com/cuda/nvrtc/)" in "".join(path.read_text() for path in tmp_path.glob("*"))
    assert "](data:image/svg+xml;base64," in (tmp_path / "00_two_workflows.ipynb").read_text()


LINK = re.compile(r"\]\((?!https?://|data:|#)([^)#\s]*)[^)]*\)")


@pytest.mark.parametrize(
    ("together", "solutions"), [(True, False), (False, True)], ids=["all", "each in a folder of its own"]
)
def test_links_lead_somewhere_and_no_role_is_left(tmp_path: Path, together: bool, solutions: bool) -> None:
    lessons = lesson.lessons_and_pages()
    if together:
        paths = lesson.export(lessons, tmp_path, solutions)
        assert {path.stem for path in tmp_path.glob("*.ipynb")} == {each.slug for each in lessons}
    else:
        paths = [path for each in lessons for path in lesson.export([each], tmp_path / each.slug, solutions)]
    seen = []
    for path in paths:
        text = "\n".join(cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown")
        text = re.sub(r"(`+).+?\1", "", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE))
        assert re.findall(r"\{[\w:]+\}", text) == [], path.name
        targets = LINK.findall(text)
        assert [target for target in targets if not (path.parent / target).is_file()] == [], path.name
        seen += [Path(target).name for target in targets]
    assert "colmeans.ncu-rep" in seen
    assert ("your_own_kernel.ipynb" if together else "your_own_kernel.md") in seen


@pytest.mark.parametrize("target", lesson.lessons_and_pages(), ids=lambda each: each.slug)
def test_a_notebook_for_download_stands_alone(target: lesson.Lesson) -> None:
    notebook = lesson.alone(target)
    nbformat.validate(notebook)
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    pictures = re.findall(r"!\[[^]]*\]\((.{26})", text)
    assert all(picture.startswith("data:image/svg+xml;base64") for picture in pictures)
    assert not [cell for cell in notebook.cells if {"solution", "wrong"} & set(lesson.tags(cell))]


def test_cells_say_what_they_need(tmp_path: Path) -> None:
    """Jupyter does not look at tags."""
    for path, found in zip(lesson.export(LESSONS, tmp_path, solutions=True), LESSONS, strict=True):
        cells = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
        assert "%load_ext fourways.lesson" in cells[0].source
        for way in found.meta["ways"]:
            (cell,) = [cell for cell in cells if f"way-{way}" in lesson.tags(cell)]
            assert cell.source.partition("#")[0].split() in (["%%needs", way], ["%%needs", way, "gpu"])
        plain = [cell for cell in found.notebook.cells if cell.cell_type == "code" and not cell.metadata.get("tags")]
        assert all(cell.source in [each.source for each in cells] for cell in plain)


def test_nobodys_work_is_overwritten(tmp_path: Path) -> None:
    first, second = lesson.export(LESSONS[:2], tmp_path)
    assert lesson.export(LESSONS[:2], tmp_path) == [first, second], "the same again is no conflict"
    second.write_text(second.read_text().replace("your turn", "my turn"))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(RuntimeError, match=r"holds other versions of 01_doublify\.ipynb; name another folder"):
        lesson.export(LESSONS, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """All lessons with exercises, as sources for nbgrader."""
    lessons = [each for each in lesson.lessons_and_pages() if each.cells("exercise")]
    return lesson.export(lessons, tmp_path_factory.mktemp("graded"), graded=True)


NBGRADER = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False}


def test_nbgrader_knows_each_exercise_and_its_test_and_locks_what_they_need(graded: list[Path]) -> None:
    for path in graded:
        notebook = nbformat.read(path, 4)
        nbformat.validate(notebook)
        assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
        exercises = [cell.id for cell in notebook.cells if "exercise" in lesson.tags(cell)]
        needed = [cell.id for cell in notebook.cells if {"setup", "prepares"} & set(lesson.tags(cell))]
        loads = notebook.cells[1]
        assert loads.source.endswith("%load_ext fourways.lesson")
        marked = {cell.id: cell.metadata["nbgrader"] for cell in notebook.cells if "nbgrader" in cell.metadata}
        points = dict.fromkeys([loads.id, *needed], 0) | {f"{name}-test": 1 for name in exercises}
        assert marked == {name: NBGRADER | {"grade_id": name, "solution": True} for name in exercises} | {
            name: NBGRADER | {"grade_id": name, "grade": True, "locked": True, "points": worth}
            for name, worth in points.items()
        }
        assert not [cell for cell in notebook.cells if "solution" in lesson.tags(cell)]


def test_the_source_for_nbgrader_holds_each_solution_between_marks(graded: list[Path]) -> None:
    for path in graded:
        cells = {cell.id: cell for cell in nbformat.read(path, 4).cells}
        found = lesson.find(path.stem)
        for number, each in enumerate(lesson.exercises(found), 1):
            source = cells[f"{path.stem}-exercise-{number}"].source
            start, solution, end = re.split("### (?:BEGIN|END) SOLUTION\n", source)
            assert solution.strip() == each.solution and each.solution in "".join(found.cells("solution"))
            assert start.strip() == each.given and end.strip() == each.judge


@pytest.mark.parametrize("answer, message", [("y[:] = x[::-1]", "0 kernels were launched"), ("...", "Not yet")])
def test_the_test_of_an_exercise_decides(answer: str, message: str) -> None:
    found = lesson.find("1")
    first = lesson.exercises(found)[0]
    names: dict = {}
    for source in (*found.cells("setup"), *found.cells("way-host"), first.given, first.solution):
        exec(source, names)
    names["asked"] = {"reference": lambda x: x[::-1]}  # a learner's own
    exec(first.test, names)
    exec(f"def reverse(x, y):\n    {answer}", names)
    with pytest.raises(AssertionError, match=message):
        exec(first.test, names)


def test_a_warning_costs_no_point(capsys: pytest.CaptureFixture[str]) -> None:
    with checking.passing():
        print("said by an answer", file=sys.stderr)
        print("Right")
    assert capsys.readouterr() == ("", ""), "nbgrader gives no point to a cell that writes to stderr"
