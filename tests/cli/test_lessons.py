"""The commands on whole lessons: listed, opened, run, recorded, exported, made into a book."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fourways import book, cli, lesson, toolchain

LESSON = """---
fourways: {{kernel: doublify, ways: [host]}}
---

# A lesson

```{{code-cell}} python
{code}
```
"""


@pytest.fixture
def clone(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small clone with a lesson that runs and one that fails."""
    shutil.copytree(root / "cpp", tmp_path / "cpp")
    (tmp_path / "lessons").mkdir()
    (tmp_path / "lessons" / "01_fails.md").write_text(LESSON.format(code="1 / 0"))
    (tmp_path / "lessons" / "02_runs.md").write_text(LESSON.format(code="print('hello')"))
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fourways(*words: str) -> Result:
    return CliRunner().invoke(cli.app, words)


def test_list() -> None:
    shown = fourways("list").stdout
    assert all(found.number in shown and found.meta["kernel"] in shown for found in lesson.all_lessons())


def test_a_lesson_that_fails_does_not_stop_the_others(clone: Path) -> None:
    done = fourways("run", "--record")
    assert done.exit_code == 1
    assert "01_fails failed in code cell 1:" in done.stderr and "ZeroDivisionError" in done.stderr
    assert "lessons to run: 2, at a time: " in done.stderr, "where no terminal is, lines say what goes on"
    assert "\n01_fails: failed in " in done.stderr and "\n02_runs: passed in " in done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith(("01_", "02_"), 1)]
    assert [(row[0], row[-1]) for row in rows] == [("01_fails", "failed"), ("02_runs", "passed")]
    assert "recorded book/recorded/02_runs.ipynb\n" in done.stdout
    assert not (clone / "book" / "recorded" / "01_fails.ipynb").exists()
    recorded = json.loads((clone / "book" / "recorded" / "02_runs.ipynb").read_text())
    assert recorded["metadata"]["fourways"]["stamp"]["sources"]


def test_without_a_home_that_can_be_written_caches_go_to_the_clone(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/nonexistent")
    code = "from pathlib import Path\nPath.home().joinpath('a').touch()"
    (clone / "lessons" / "02_runs.md").write_text(LESSON.format(code=code))
    done = fourways("run", "2")
    assert done.exit_code == 0, done.stderr
    assert "caches go to build/home\n" in done.stderr and (clone / "build" / "home" / "a").exists()


def test_what_has_run_is_recorded_before_the_next_lesson_can_end_the_run(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_all(lessons: list, progress: object, ended: Callable, timeout: int) -> None:
        ended(lesson.run(lessons[1]))
        raise KeyboardInterrupt

    monkeypatch.setattr(lesson, "run_all", run_all)
    fourways("run", "--record")
    assert (clone / "book" / "recorded" / "02_runs.ipynb").is_file()


def test_a_run_with_skipped_cells_is_not_recorded(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lesson_text = LESSON.format(code=":tags: [gpu]\nprint('hello')")
    (clone / "lessons" / "02_runs.md").write_text(lesson_text)
    monkeypatch.setattr(toolchain, "missing", lambda need: f"no {need} here")
    done = fourways("run", "2", "--record")
    assert done.exit_code == 1 and "passed" in done.stdout
    assert "02_runs is not recorded, only a complete run is: 1 cells skipped: no gpu here" in done.stderr
    assert not (clone / "book").exists()


def test_the_book_is_built_after_the_run(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(pages: dict[str, str]) -> Path:
        assert {command.name for command in book.COMMANDS} == set(pages)
        return clone / "build" / "book" / "index.html"

    monkeypatch.setattr(book, "build", build)
    done = fourways("run", "2", "--book")
    assert done.exit_code == 0 and done.stdout.endswith("The book: build/book/index.html\n")
    assert "passed" in done.stdout.partition("The book:")[0]
    assert fourways("book").stdout == "The book: build/book/index.html\n"


def test_a_book_with_a_flaw_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(pages: dict[str, str]) -> Path:
        raise book.BookError("lessons/01.ipynb: WARNING")

    monkeypatch.setattr(book, "build", build)
    assert isinstance(fourways("book").exception, book.BookError)


def test_export(clone: Path) -> None:
    (clone / "book").mkdir()
    (clone / "book" / "references.bib").touch()
    done = fourways("export", "2", "--student", "class", "--solutions", "mine")
    assert done.stdout == "wrote class/02_runs.ipynb\nwrote mine/02_runs.ipynb\n"
    assert (clone / "class" / "02_runs.ipynb").is_file()


def test_open(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy, made once; then JupyterLab, with the variables that a lesson's cells need."""
    (clone / "book").mkdir()
    (clone / "book" / "references.bib").touch()
    monkeypatch.setattr(toolchain, "installed", lambda module: None)
    done = fourways("open", "2")
    assert done.stdout == "notebooks/02_runs.ipynb: a fresh copy\n"
    assert "-m pip install jupyterlab`, then the same command again" in str(done.exception)
    copy = clone / "notebooks" / "02_runs.ipynb"
    copy.write_text(copy.read_text().replace("hello", "mine"))
    started: list[tuple[list[str], dict[str, str]]] = []
    monkeypatch.setattr(toolchain, "installed", Path)
    monkeypatch.setattr("subprocess.call", lambda command, env: started.append((command, env)) or 0)
    done = fourways("open", "2", "1")
    assert "notebooks/02_runs.ipynb: yours, as you left it" in done.stdout and "mine" in copy.read_text()
    assert "notebooks/01_fails.ipynb: a fresh copy" in done.stdout and done.exit_code == 0
    ((command, env),) = started
    assert command == [sys.executable, "-m", "jupyterlab", "notebooks/02_runs.ipynb"]
    assert env["FOURWAYS_ROOT"] == str(clone)


@pytest.mark.parametrize(
    "words, said",
    [
        ((), "name a folder"),
        (("--student", "lessons/02_runs.md"), "is a file"),
        (("--student", "class", "--solutions", "./class"), "two folders"),
    ],
)
def test_export_wants_folders(clone: Path, words: tuple[str, ...], said: str) -> None:
    done = fourways("export", *words)
    assert done.exit_code == 2 and said in " ".join(done.stderr.replace("│", "").split())
