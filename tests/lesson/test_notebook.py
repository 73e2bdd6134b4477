"""A lesson as a file: found by any of its names, read with its front matter, its cells by tag."""

import shutil
from pathlib import Path

import pytest

from fourways import lesson
from fourways.kernels import InputError

LESSON = Path(__file__).with_name("notebook.md").read_text(encoding="utf-8")


@pytest.fixture
def path(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one lesson, 05_my_own, of a small clone."""
    shutil.copytree(root / "cpp" / "kernels", tmp_path / "cpp" / "kernels")
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    (tmp_path / "lessons").mkdir()
    file = tmp_path / "lessons" / "05_my_own.md"
    file.write_text(LESSON)
    return file


def test_what_a_file_holds(path: Path) -> None:
    found = lesson.Lesson(path)
    assert (found.slug, found.number, found.title, found.rtol) == ("05_my_own", "05", "The title", 1e-5)
    assert found.cells("setup") == ["first = 1", "third = 3"] and found.cells("way-host") == []
    assert [lesson.tags(cell) for cell in found.notebook.cells] == [[], ["setup", "needs-host"], [], ["setup"]]


@pytest.mark.parametrize("name", ["5", "05", "05_my_own", "my_own", "lessons/05_my_own.md"])
def test_find_takes_number_word_slug_and_path(path: Path, name: str) -> None:
    assert lesson.find(name) == lesson.Lesson(path)


def test_find_names_the_lessons_there_are(path: Path) -> None:
    with pytest.raises(InputError, match="no lesson '99'; there are: 05_my_own"):
        lesson.find("99")
    path.rename(path.with_name("notes.txt"))
    with pytest.raises(InputError, match="there are: none"):
        lesson.find("5")


def test_lessons_come_in_order_of_number(path: Path) -> None:
    for name in ("10_last.md", "01_first.md", "_lessons.md", "readme.md"):
        (path.parent / name).write_text(LESSON)
    assert [found.number for found in lesson.all_lessons()] == ["01", "05", "10"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("fourways:", "fourways: [", "05_my_own.md cannot be read: "),
        ("fourways:", "threeways:", "the front matter has no `fourways:` section"),
        ("# 05 · The title", "The title", "no `# Title`"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(path: Path, old: str, new: str, message: str) -> None:
    path.write_text(LESSON.replace(old, new))
    found = lesson.Lesson(path)
    with pytest.raises(InputError, match=message):
        print(found.meta, found.title)
