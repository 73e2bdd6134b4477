"""What a run gave is kept whole and stamped, only if it is complete, and names nothing of the machine."""

import shutil
from pathlib import Path

import pytest

from fourways import book, lesson, toolchain
from fourways.book import merge

LESSON = Path(__file__).with_name("record.md").read_text(encoding="utf-8")


@pytest.fixture
def clone(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small clone with one lesson, 05_test, on a machine that can run it."""
    shutil.copytree(root / "cpp", tmp_path / "cpp")
    (tmp_path / "lessons").mkdir()
    (tmp_path / "lessons" / "05_test.md").write_text(LESSON)
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    monkeypatch.setattr(toolchain, "missing", lambda need: None)
    stamp = toolchain.stamp() | {"device": "Test GPU 1"}
    monkeypatch.setattr(toolchain, "stamp", lambda: stamp)
    return tmp_path


def test_only_a_complete_run_is_recorded(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", lambda need: f"no {need} here")
    with pytest.raises(RuntimeError, match="05_test is not recorded.*1 cells skipped: no gpu here"):
        book.record(lesson.run_all([lesson.find("5")])[0])
    (clone / "lessons" / "05_test.md").write_text(LESSON.replace("import os\n", "1 / 0\n"))
    with pytest.raises(RuntimeError, match="05_test is not recorded.*(?s:code cell 3:.*ZeroDivisionError)"):
        book.record(lesson.run_all([lesson.find("5")])[0])
    assert not (clone / "book").exists(), "nothing is written"


def test_a_package_that_may_be_missing_is_no_hole(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", {"torch": "no torch here", "gpu": "no gpu here"}.get)
    text = LESSON.replace("ways: [host]", "ways: [host], may_skip: [torch]")
    assert text != LESSON
    (clone / "lessons" / "05_test.md").write_text(text)
    with pytest.raises(RuntimeError, match="1 cells skipped: no gpu here"):
        book.record(lesson.run_all([lesson.find("5")])[0])
    (clone / "lessons" / "05_test.md").write_text(text.replace("[gpu]", "[needs-torch]"))
    assert book.record(lesson.run_all([lesson.find("5")])[0])


def test_a_record_is_stamped_and_hides_the_machine(clone: Path) -> None:
    found = lesson.find("5")
    recorded = book.record(lesson.run_all([found])[0])
    assert recorded == clone / "book" / "recorded" / "05_test.ipynb"
    stamp = merge.stamp_of(recorded)
    assert (stamp["device"], stamp["kernels"]) == ("Test GPU 1", lesson.kernel_hashes(found))
    assert lesson.rows(recorded) == {"numbers": [{"n": 1}]}
    assert str(clone) not in recorded.read_text() and str(Path.home()) not in recorded.read_text()
    assert "./lessons ~/x /tmp/…/kernel.cu" in recorded.read_text()


def test_the_book_shows_this_machines_run_if_it_is_whole_fresh_and_on_a_gpu(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, recorded = lesson.find("5"), clone / "book" / "recorded" / "05_test.ipynb"
    assert merge.shown(found) == recorded, "nothing has run yet"
    lesson.run_all([found])
    assert merge.shown(found) == clone / "build" / "lessons" / "05_test.ipynb"
    assert "**Test GPU 1**" in merge.merge(found, merge.shown(found)).cells[0].source
    stamp = toolchain.stamp()
    monkeypatch.setattr(toolchain, "stamp", lambda: stamp | {"device": None})
    lesson.run_all([found])
    assert merge.shown(found) == recorded, "without a GPU"
    monkeypatch.setattr(toolchain, "stamp", lambda: stamp)
    monkeypatch.setattr(toolchain, "missing", {"gpu": "no gpu here"}.get)
    lesson.run_all([found])
    assert merge.shown(found) == recorded, "a cell was skipped"
    monkeypatch.setattr(toolchain, "missing", lambda need: None)
    lesson.run_all([found])
    kernel = clone / "cpp" / "kernels" / "doublify.cuh"
    kernel.write_text(kernel.read_text() + "// changed\n")
    assert merge.shown(found) == recorded, "the kernel has changed since"


def test_lessons_that_ran_side_by_side_have_no_times_to_show(clone: Path) -> None:
    (clone / "lessons" / "06_test.md").write_text(LESSON)
    both = [lesson.find("5"), lesson.find("6")]
    lesson.run_all(both, jobs=2)
    assert [merge.shown(each).parent.name for each in both] == ["recorded", "recorded"]
    lesson.run_all(both, jobs=1)
    assert [merge.shown(each).parent.name for each in both] == ["lessons", "lessons"]


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("../kernels/doublify.cuh", ["doublify"]),
        ("doublify.cu", ["doublify"]),
        ("scan.cpp", ["scan"]),
        ("gpu_array.hpp", ["doublify", "scan"]),  # by way of what they include
        ("gpu_array.cpp", ["doublify", "scan"]),
        ("cub_storage.hpp", ["scan"]),
        ("module.cpp", []),
        ("reduce.cu", []),
    ],
)
def test_a_kernels_hash_sees_its_text_and_all_files_of_its_binding(clone: Path, name: str, changed: list[str]) -> None:
    file = clone / "cpp" / "aot" / name
    before = lesson.kernel_hashes(lesson.find("5"))
    file.write_text(f"{file.read_text()}// changed\n")
    after = lesson.kernel_hashes(lesson.find("5"))
    assert [each for each in ("doublify", "scan") if before[each] != after[each]] == changed


def test_a_cell_that_runs_a_changed_program_is_not_recorded(tmp_path: Path, root: Path) -> None:
    """The others of its lesson are."""
    shutil.copytree(root / "lessons" / "programs", tmp_path / "programs")
    page = lesson.Lesson(Path(shutil.copy(lesson.find("02").path, tmp_path)))
    before = lesson.unrecorded(page)
    program = tmp_path / "programs" / "02_in_place" / "in_place.py"
    program.write_text(program.read_text() + "# changed\n")
    said = "!python programs/02_in_place/in_place.py: Not recorded with today's program."
    assert lesson.unrecorded(page) == [*before, said]
