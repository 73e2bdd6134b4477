"""Notebooks for a class: no solutions where none are wanted, all that Jupyter can show, nobody's work overwritten."""

import json
from pathlib import Path

import nbformat
import pytest

from fourways import lesson

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
        for sign in ("```{", "{cite}", ":::", "../", "_dark.svg"):
            assert sign not in text, f"{path.name}: {sign}"
    boxes = (tmp_path / "05_stencil.ipynb").read_text()
    assert "> **Trap: an input that hides the mistake**" in boxes and "> A stencil that counts one" in boxes
    assert "![" in json.dumps(nbformat.read(tmp_path / "00_two_workflows.ipynb", 4))
    assert (tmp_path / "figures" / "edit_loop_jit_light.svg").is_file()
    assert "[[nvrtc](https://" in (tmp_path / "00_two_workflows.ipynb").read_text()


def test_cells_say_what_they_need(tmp_path: Path) -> None:
    """Jupyter does not look at tags."""
    for path, found in zip(lesson.export(LESSONS, tmp_path, solutions=True), LESSONS, strict=True):
        cells = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
        assert "%load_ext fourways.lesson" in cells[0].source
        for way in found.meta["ways"]:
            (cell,) = [cell for cell in cells if f"way-{way}" in lesson.tags(cell)]
            assert cell.source.splitlines()[0].split() in (["%%needs", way], ["%%needs", way, "gpu"])
        plain = [cell for cell in found.notebook.cells if cell.cell_type == "code" and not cell.metadata.get("tags")]
        assert all(cell.source in [each.source for each in cells] for cell in plain)


def test_nobodys_work_is_overwritten(tmp_path: Path) -> None:
    first, second = lesson.export(LESSONS[:2], tmp_path)
    assert lesson.export(LESSONS[:2], tmp_path) == [first, second], "the same again is no conflict"
    second.write_text(second.read_text().replace("your turn", "my turn"))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(lesson.ExportError, match=r"holds other versions of 01_doublify\.ipynb; name another folder"):
        lesson.export(LESSONS, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
