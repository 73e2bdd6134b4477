"""The commands on whole lessons: listed, opened, run, recorded, exported, made into a book."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from commands import fourways, said
from typer.core import TyperGroup

from fourways import book, files, lesson, toolchain

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


def test_list() -> None:
    shown = fourways("list").stdout
    assert all(each.number in shown and each.meta["kernel"] in shown for each in lesson.all_lessons())


def test_a_lesson_that_fails_does_not_stop_the_others(clone: Path) -> None:
    files.write_text(clone / "book" / "recorded" / "01_fails.ipynb", "an older recording")
    done = fourways("run", "--record")
    assert done.exit_code == 1
    assert "01_fails failed in code cell 1:" in done.stderr and "ZeroDivisionError" in done.stderr
    assert "lessons to run: 2, at a time: " in done.stderr
    assert "\n01_fails: failed in " in done.stderr and "\n02_runs: passed in " in done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith(("01_", "02_"), 1)]
    assert [(row[0], row[-1]) for row in rows] == [("01_fails", "failed"), ("02_runs", "passed")]
    assert "recorded book/recorded/02_runs.ipynb\n" in done.stdout
    assert (clone / "book" / "recorded" / "01_fails.ipynb").read_text() == "an older recording"
    recorded = json.loads((clone / "book" / "recorded" / "02_runs.ipynb").read_text())
    assert recorded["metadata"]["fourways"]["stamp"]["kernels"].keys() == {"doublify"}


def test_a_run_loads_no_profiler_linker_or_book(clone: Path) -> None:
    code = (
        "import sys; from fourways import cli\n"
        "try:\n    cli.app(['run', '2'])\n"
        "finally:\n    print(*sorted(name for name in sys.modules if name.startswith('fourways.')), file=sys.stderr)"
    )
    environment = toolchain.child_environment()
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "02_runs" in done.stdout, done.stderr
    loaded = set(done.stderr.splitlines()[-1].split())
    assert "fourways.lesson" in loaded
    unneeded = {f"fourways.{name}" for name in ("profiling", "linking", "book", "timeline")}
    assert not loaded & unneeded


def test_jobs(clone: Path) -> None:
    assert "at a time: 2" in fourways("run", "--jobs", "2").stderr
    refused = fourways("run", "--jobs", "2", "--record")
    assert refused.exit_code == 2 and "one at a time" in refused.stderr


def test_what_has_run_is_recorded_before_the_next_lesson_can_end_the_run(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = lesson.run_all

    def run_all(lessons: list, progress: object, ended: Callable, *_: object, **__: object) -> None:
        ended(really([lessons[1]])[0])
        raise KeyboardInterrupt

    monkeypatch.setattr(lesson, "run_all", run_all)
    fourways("run", "--record")
    assert (clone / "book" / "recorded" / "02_runs.ipynb").is_file()


def test_the_book_is_built_after_the_run(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(commands: TyperGroup) -> Path:
        assert {"time", "build", "check"} <= set(commands.commands)
        return clone / "build" / "book" / "index.html"

    monkeypatch.setattr(book, "build", build)
    done = fourways("run", "2", "--book")
    assert done.exit_code == 0 and done.stdout.endswith("The book: build/book/index.html\n")
    assert "passed" in done.stdout.partition("The book:")[0]
    assert fourways("book").stdout == "The book: build/book/index.html\n"


def test_export(clone: Path) -> None:
    (clone / "book").mkdir()
    (clone / "book" / "references.bib").touch()
    done = fourways("export", "2", "--student", "class", "--solutions", "mine")
    assert done.stdout == "wrote class/02_runs.ipynb\nwrote mine/02_runs.ipynb\n"
    assert (clone / "class" / "02_runs.ipynb").is_file()


LAB = """
import json, os, signal, subprocess, sys
from pathlib import Path

def main(words):
    kernel = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    def stop(*_):
        kernel.kill()
        kernel.wait()
        sys.exit()
    signal.signal(signal.SIGTERM, stop)
    Path("begun.part").write_text(json.dumps([words, kernel.pid, os.environ["FOURWAYS_ROOT"]]))
    Path("begun.part").rename("begun")
    while True:
        signal.pause()
"""
"""Stands in for JupyterLab: like it, it ends its kernels when it gets SIGTERM."""


@pytest.fixture
def lab(clone: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., subprocess.Popen]]:
    """`fourways open` with these words, as a process, when the stand-in for JupyterLab has begun."""
    (clone / "book").mkdir()
    (clone / "book" / "references.bib").touch()
    (clone / "site" / "jupyterlab").mkdir(parents=True)
    (clone / "site" / "jupyterlab" / "__init__.py").touch()
    (clone / "site" / "jupyterlab" / "labapp.py").write_text(LAB)
    monkeypatch.setenv("PYTHONPATH", str(clone / "site"), prepend=os.pathsep)
    started: list[subprocess.Popen] = []

    def start(*words: str) -> subprocess.Popen:
        command = [sys.executable, "-m", "fourways", "open", *words]
        environment = toolchain.child_environment()
        started.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True))
        while not Path("begun").exists():
            assert started[-1].poll() is None
            time.sleep(0.1)
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_open_without_jupyterlab_copies_and_says_what_to_install(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (clone / "book").mkdir()
    (clone / "book" / "references.bib").touch()
    monkeypatch.setattr(toolchain, "installed", lambda module: None)
    done = fourways("open", "2")
    assert done.stdout == "notebooks/02_runs.ipynb: a fresh copy\n"
    assert "-m pip install jupyterlab`, then the same command again" in str(done.exception)


def test_open_in_a_folder_elsewhere_gives_jupyterlab_the_notebooks_address(
    tmp_path_factory: pytest.TempPathFactory, lab: Callable
) -> None:
    folder = tmp_path_factory.mktemp("a class")
    lab("2", "--folder", str(folder), "--no-browser").terminate()
    options = json.loads(Path("begun").read_text())[0]
    assert {f"--ServerApp.root_dir={folder}", "--LabApp.default_url=/lab/tree/02_runs.ipynb"} <= set(options)


def test_open_keeps_your_copy_and_hands_jupyterlab_its_words(clone: Path, lab: Callable) -> None:
    (clone / "notebooks").mkdir()
    (clone / "notebooks" / "02_runs.ipynb").write_text("mine")
    process = lab("2", "1", "--ip=0.0.0.0", "--no-browser", "--", "--IdentityProvider.token=a b", "--y")
    process.terminate()
    said, _ = process.communicate(timeout=60)
    assert (clone / "notebooks" / "02_runs.ipynb").read_text() == "mine"
    assert "notebooks/02_runs.ipynb: yours, as you left it" in said and "notebooks/01_fails.ipynb: a fresh copy" in said
    (notebook, *options), _, home = json.loads((clone / "begun").read_text())
    assert (notebook, home) == (str(clone.resolve() / "notebooks" / "02_runs.ipynb"), str(clone))
    as_root = ["--allow-root"] if os.geteuid() == 0 else []
    assert f"--ServerApp.root_dir={clone}" in options
    assert "--LabApp.default_url=/lab/tree/notebooks/02_runs.ipynb" in options, "the printed address opens the notebook"
    expected = {"--IdentityProvider.token=a b", "--y", "--ip=0.0.0.0", "--no-browser", *as_root}
    assert expected <= set(options) and ("--allow-root" in said) == bool(as_root)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_open_leaves_nothing_running(clone: Path, lab: Callable, ending: signal.Signals) -> None:
    process = lab("2")
    process.send_signal(ending)
    process.communicate(timeout=60)
    _, kernel, _ = json.loads((clone / "begun").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(kernel, signal.SIGKILL)


@pytest.mark.parametrize(
    "words, told",
    [
        ((), "name a folder"),
        (("--student", "lessons/02_runs.md"), "is a file"),
        (("--student", "class", "--solutions", "./class"), "two folders"),
        (("--student", "class", "--graded"), "add --solutions"),
    ],
)
def test_export_wants_folders(clone: Path, words: tuple[str, ...], told: str) -> None:
    done = fourways("export", *words)
    assert done.exit_code == 2 and told in said(done)
