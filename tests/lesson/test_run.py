"""Lessons run cell by cell: what cannot run is skipped with its reason, a failure stays with its lesson."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fourways import environment, files, kernels, lesson, running, toolchain

LESSON = """---
fourways:
  kernel: doublify
  ways: [host]
  without: {nvrtc: a test, nvcc: a test, pycuda: a test, pybind11: a test}
  minutes: 20
---

# A lesson of the tests

```{code-cell} python
print("hello")
```

```{code-cell} python
:tags: [gpu]
print("on the GPU")
```

```{code-cell} python
:tags: [way-pycuda]
raise RuntimeError("PyCUDA's cell ran")
```

```{code-cell} python
from fourways import tables
tables.Table("numbers", [{"n": 1}], [("n", lambda row: str(row["n"]))])
```

```{code-cell} python
import os
print(os.getcwd(), os.path.expanduser("~/x"), "/tmp/fourways-abc/kernel.cu")
```
"""


@pytest.fixture
def clone(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small clone with one lesson, 05_test."""
    shutil.copytree(root / "cpp", tmp_path / "cpp")
    (tmp_path / "lessons").mkdir()
    (tmp_path / "lessons" / "05_test.md").write_text(LESSON)
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    return tmp_path


def test_ctrl_c_ends_a_run_without_a_traceback(clone: Path) -> None:
    begun = clone / "begun"
    endless = f"import pathlib, time\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(600)"
    (clone / "lessons" / "05_test.md").write_text(LESSON.replace('print("hello")', endless))
    command = [sys.executable, "-m", "fourways", "run", "5"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, env=lesson.process_environment(), start_new_session=True, **pipes)
    while not begun.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    printed, complained = process.communicate(timeout=60)
    assert (process.returncode, printed) == (130, "")
    assert "Traceback" not in complained


def missing(*absent: str):
    return lambda need: f"no {need} here" if need in absent else None


def test_skips_say_why(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", missing("gpu", "pycuda"))
    seen: list[tuple[int, int]] = []
    result = running.run(lesson.find("5"), lambda _, number, total: seen.append((number, total)))
    assert (result.outcome, result.ran, dict(result.skipped)) == ("passed", 3, {"no gpu here": 1, "no pycuda here": 1})
    assert seen == [(number, 5) for number in range(1, 6)]
    outputs = [cell.outputs for cell in result.notebook.cells if cell.cell_type == "code"]
    assert outputs[0][0].text == "hello\n"
    assert outputs[2][0].text == "Skipped: no pycuda here\n"
    assert (clone / "build" / "lessons" / "05_test.ipynb").exists()
    (row,) = running.summary([result]).rows
    assert (row["ran"], row["skipped"], row["outcome"]) == (3, {"no gpu here": 1, "no pycuda here": 1}, "passed")


def test_a_failure_is_told_with_its_cell(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", missing("gpu"))
    result = running.run(lesson.find("5"))
    assert result.outcome == "failed"
    assert result.error.startswith("code cell 3:") and "PyCUDA's cell ran" in result.error
    assert "\x1b" not in result.error, "no terminal colours in the message"


def test_only_a_complete_run_is_recorded(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", missing("gpu", "pycuda"))
    result = running.run(lesson.find("5"))
    with pytest.raises(running.RecordingError, match="05_test is not recorded.*1 cells skipped: no gpu here"):
        running.record(result)
    assert not (clone / "book").exists(), "nothing is written"


def test_record_stamps_and_hides_the_machine(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = LESSON.replace("[way-pycuda]", "[measure]").replace('raise RuntimeError("PyCUDA\'s cell ran")', "1 + 1")
    (clone / "lessons" / "05_test.md").write_text(text)
    monkeypatch.setattr(toolchain, "missing", missing())
    monkeypatch.setattr(environment, "stamp", lambda: {"device": "Test GPU 1"})
    found = lesson.find("5")
    recorded, results = running.record(running.run(found))
    assert recorded == clone / "book" / "recorded" / "05_test.ipynb"
    assert results == clone / "book" / "results" / "test-gpu-1" / "05_test.json"
    notebook, figures = json.loads(recorded.read_text()), json.loads(results.read_text())
    stamp = notebook["metadata"]["fourways"]["stamp"]
    assert stamp == figures["stamp"]
    assert (stamp["device"], stamp["sources"]) == ("Test GPU 1", lesson.fingerprint(found.path))
    assert figures["tables"] == {"numbers": [{"n": 1}]}
    assert str(clone) not in recorded.read_text() and str(Path.home()) not in recorded.read_text()
    assert "./lessons ~/x /tmp/…/kernel.cu" in recorded.read_text()


def test_a_report_is_recorded_for_download(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = LESSON.replace("[way-pycuda]", "[measure]").replace('raise RuntimeError("PyCUDA\'s cell ran")', "1 + 1")
    (clone / "lessons" / "05_test.md").write_text(text)
    monkeypatch.setattr(toolchain, "missing", missing())
    monkeypatch.setattr(environment, "stamp", lambda: {"device": "Test GPU 1"})
    report = clone / "build" / "05_test" / "mine.ncu-rep"
    files.write_bytes(report, b"\x00" + f"{clone}/x".encode())
    given = running.record(running.run(lesson.find("5")))[-1]
    assert given == clone / "book" / "figures" / "mine.ncu-rep"
    assert str(clone).encode() not in given.read_bytes() and len(given.read_bytes()) == len(report.read_bytes())


def test_other_folders_of_the_same_name_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "root", lambda: Path("/srv/clone"))
    assert running.anonymous("/srv/clone-old/x /srv/clone/x") == "/srv/clone-old/x ./x"
    monkeypatch.setenv("HOME", "/")
    assert running.anonymous("text/plain") == "text/plain"


def test_a_jupyter_kernel_of_another_interpreter_is_not_taken(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", missing("gpu", "pycuda"))
    foreign = clone / "jupyter" / "kernels" / "python3"
    foreign.mkdir(parents=True)
    spec = {"argv": ["/bin/false", "{connection_file}"], "display_name": "foreign", "language": "python"}
    (foreign / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(clone / "jupyter"))
    assert running.run(lesson.find("5")).outcome == "passed"


def test_a_run_leaves_the_lesson_as_it_was(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", missing("gpu", "pycuda"))
    found = lesson.find("5")
    assert running.run(found).notebook.cells[1].outputs
    assert not found.notebook.cells[1].outputs


def test_files_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a" / "file.txt"
    files.write_text(path, "old")
    with pytest.raises(UnicodeEncodeError):
        files.write_text(path, "new \ud800")
    assert path.read_text() == "old"
    assert list(path.parent.iterdir()) == [path]


def test_every_lesson_runs_as_far_as_this_machine_can(root: Path) -> None:
    for found in lesson.all_lessons():
        result = running.run(found)
        assert result.outcome == "passed", result.error
        assert result.ran >= 10
        assert kernels.root() == root
