"""Lessons run cell by cell: what cannot run is skipped with its reason, a failure stays with its lesson."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fourways import lesson, toolchain

LESSON = Path(__file__).with_name("run.md").read_text(encoding="utf-8")


@pytest.fixture
def clone(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small clone with one lesson, 05_test."""
    shutil.copytree(root / "cpp", tmp_path / "cpp")
    (tmp_path / "lessons").mkdir()
    (tmp_path / "lessons" / "05_test.md").write_text(LESSON)
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    return tmp_path


def kill_twice(process: int, ending: int) -> None:
    """As `timeout` does: it signals the process and then its group."""
    os.kill(process, ending)
    time.sleep(0.05)
    os.kill(process, ending)


@pytest.mark.parametrize(
    ("send", "ending"),
    [pytest.param(os.killpg, signal.SIGINT, id="Ctrl-C"), pytest.param(kill_twice, signal.SIGTERM, id="SIGTERM twice")],
)
def test_an_interrupted_run_says_so_and_leaves_nothing_running(
    clone: Path, send: Callable[[int, int], None], ending: signal.Signals
) -> None:
    begun = clone / "begun"
    endless = f"import os, pathlib, time\npathlib.Path({str(begun)!r}).write_text(str(os.getpid()))\ntime.sleep(600)"
    (clone / "lessons" / "05_test.md").write_text(LESSON.replace('print("hello")', "1 / 0"))
    (clone / "lessons" / "06_test.md").write_text(LESSON.replace('print("hello")', endless))
    command = [sys.executable, "-m", "fourways", "run"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, env=toolchain.child_environment(), start_new_session=True, **pipes)
    while not ((clone / "build" / "lessons" / "05_test.ipynb").exists() and begun.exists() and begun.read_text()):
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    send(process.pid, ending)
    printed, complained = process.communicate(timeout=60)
    assert process.returncode == 128 + ending
    if ending == signal.SIGINT:
        assert "05_test" in printed and "06_test" not in printed, "only what was done has an outcome"
        assert "interrupted: 1 of 2 lessons done; for the others: fourways run 06" in complained
    assert complained.count("Traceback (") == 1 and "died" not in complained, "the failing lesson's alone"
    with pytest.raises(ProcessLookupError):
        os.kill(int(begun.read_text()), signal.SIGKILL)


def missing(*absent: str):
    return lambda need: f"no {need} here" if need in absent else None


def test_skips_say_why(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", missing("gpu", "torch"))
    seen: list[tuple[int, int]] = []
    result = lesson.run_all([lesson.find("5")], lambda _, number, total: seen.append((number, total)))[0]
    assert (result.outcome, result.ran, dict(result.skipped)) == ("passed", 2, {"no gpu here": 1, "no torch here": 1})
    assert seen == [(number, 4) for number in range(1, 5)]
    outputs = [cell.outputs for cell in result.notebook.cells if cell.cell_type == "code"]
    assert outputs[0][0].text == "hello\n"
    assert outputs[2][0].text == "Skipped: no torch here\n"
    assert outputs[3][0].text == "lessons\n", "cells run beside the lesson"
    assert (clone / "build" / "lessons" / "05_test.ipynb").exists()
    (row,) = lesson.outcomes([result]).rows
    assert (row["cells run"], row["cells skipped"]) == (2, "1: no gpu here\n1: no torch here")


def two_lessons(clone: Path, code: str) -> list[lesson.Lesson]:
    for slug, other in (("05_test", "06_test"), ("06_test", "05_test")):
        text = LESSON.replace('print("hello")', code.format(here=clone / slug, there=clone / other))
        (clone / "lessons" / f"{slug}.md").write_text(text)
    return lesson.all_lessons()


def test_without_a_gpu_lessons_run_side_by_side(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each waits for the other, and the first for the end of the second; results come in the order asked for."""
    monkeypatch.setattr(toolchain, "missing", missing("gpu", "torch"))
    monkeypatch.setattr(toolchain, "gpus", list)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    waits = "import time, pathlib\npathlib.Path('{here}').touch()\nwhile not pathlib.Path('{there}').exists():\n"
    slow = "\nwhile '05_test' in '{here}' and not pathlib.Path('{there}.ended').exists():\n    time.sleep(0.1)"
    ended: list[str] = []

    def note(result: lesson.LessonRun) -> None:
        ended.append(result.lesson.slug)
        (clone / f"{result.lesson.slug}.ended").touch()

    asked = two_lessons(clone, f"{waits}    time.sleep(0.1){slow}")
    results = lesson.run_all(asked, ended=note, timeout=60)
    assert [(result.lesson.slug, result.error) for result in results] == [("05_test", ""), ("06_test", "")]
    assert ended == ["06_test", "05_test"]


def test_with_a_gpu_one_lesson_measures_at_a_time(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", missing("gpu", "torch"))
    monkeypatch.setattr(toolchain, "gpus", lambda: ["a GPU"])
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    alone = "import time, pathlib\nassert not pathlib.Path('{there}').exists()\nmine = pathlib.Path('{here}')\n"
    results = lesson.run_all(two_lessons(clone, alone + "mine.touch()\ntime.sleep(0.5)\nmine.unlink()"))
    assert [result.error for result in results] == ["", ""]


def test_a_failure_is_told_with_its_cell(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", missing("gpu"))
    result = lesson.run_all([lesson.find("5")])[0]
    assert result.outcome == "failed"
    assert result.error.startswith("code cell 3:") and "PyCUDA's cell ran" in result.error
    assert "\x1b" not in result.error, "no terminal colours in the message"


def test_a_jupyter_kernel_of_another_interpreter_is_not_taken(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", missing("gpu", "torch"))
    foreign = clone / "jupyter" / "kernels" / "python3"
    foreign.mkdir(parents=True)
    spec = '{"argv": ["/bin/false", "{connection_file}"], "display_name": "foreign", "language": "python"}'
    (foreign / "kernel.json").write_text(spec)
    monkeypatch.setenv("JUPYTER_PATH", str(clone / "jupyter"))
    assert lesson.run_all([lesson.find("5")])[0].outcome == "passed"


def test_a_cell_that_takes_too_long_ends_its_lesson(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", missing("gpu", "torch"))
    path = clone / "lessons" / "05_test.md"
    path.write_text(LESSON.replace('print("hello")', "import time\ntime.sleep(600)"))
    result = lesson.run_all([lesson.find("5")], timeout=1)[0]
    assert (result.outcome, result.ran) == ("failed", 0)
    assert result.error.startswith("code cell 1:") and "timed out" in result.error


def test_a_file_that_cannot_be_read_or_written_is_its_lessons_failure(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before its cells run."""
    monkeypatch.setattr(toolchain, "missing", missing("gpu", "torch"))
    (clone / "lessons" / "06_broken.md").write_text("---\nfourways: [\n---\n\n# Broken\n")
    (clone / "lessons" / "07_unwritten.md").write_text(LESSON)
    (clone / "build" / "lessons" / "07_unwritten.ipynb").mkdir(parents=True)
    ended: list[lesson.LessonRun] = []
    results = lesson.run_all(lesson.all_lessons(), ended=ended.append)
    assert [result.outcome for result in results] == ["passed", "failed", "failed"] and len(ended) == 3
    assert results[1].error.startswith("its files: 06_broken.md cannot be read: ")
    assert "07_unwritten.ipynb is a folder" in results[2].error and results[2].ran == 0
    assert [row["outcome"] for row in lesson.outcomes(results).rows] == ["passed", "failed", "failed"]
