"""Files that a lesson shows become blocks of code."""

from pathlib import Path

import pytest

from fourways import kernels, lesson


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> lesson.Lesson:
    monkeypatch.setattr(kernels, "root", lambda: tmp_path)
    (tmp_path / "lessons").mkdir()
    (tmp_path / "timing.py").write_text("import time\n\n\n@once\ndef clock():\n    return time\n\n\nx = 1\n")
    (tmp_path / "CMakeLists.txt").write_text("project(heat)\n")
    return lesson.Lesson(tmp_path / "lessons" / "01_a.md")


def test_a_function_and_a_file_are_shown(page: lesson.Lesson) -> None:
    text = "Before\n:::{literalinclude} ../timing.py\n:pyobject: clock\n:::\n"
    assert lesson.with_files(page, text) == "Before\n```python\n@once\ndef clock():\n    return time\n```\n"
    text = "```{literalinclude} ../CMakeLists.txt\n:language: cmake\n```\nAfter"
    assert lesson.with_files(page, text) == "```cmake\nproject(heat)\n```\nAfter"
    text = "```{literalinclude} ../timing.py\n:start-at: def clock\n:end-before: x = 1\n```"
    assert lesson.with_files(page, text) == "```python\ndef clock():\n    return time\n```"
    assert [each.name for each in lesson.included(page, text)] == [None]


@pytest.mark.parametrize(
    "text", ["../gone.py", "../timing.py\n:pyobject: gone", "../timing.py\n:start-at: gone", "../../elsewhere.py"]
)
def test_what_is_not_there_is_named(page: lesson.Lesson, text: str) -> None:
    (page.path.parents[2] / "elsewhere.py").write_text("")
    with pytest.raises(lesson.LessonError, match=r"01_a.md: .*(gone|elsewhere)"):
        lesson.with_files(page, f":::{{literalinclude}} {text}\n:::\n")
