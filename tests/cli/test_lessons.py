"""The commands on whole lessons: listed, opened, run, recorded, exported, made into a book."""

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from commands import fourways, said

from fourways import files, lesson, toolchain

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


def test_jobs(clone: Path) -> None:
    assert "at a time: 2" in fourways("run", "--jobs", "2").stderr
    refused = fourways("run", "--jobs", "2", "--record")
    assert refused.exit_code == 2 and "one at a time" in refused.stderr


def test_export(clone: Path) -> None:
    (clone / "book").mkdir()
    (clone / "book" / "references.bib").touch()
    done = fourways("export", "2", "--student", "class", "--solutions", "mine")
    assert done.stdout == "wrote class/02_runs.ipynb\nwrote mine/02_runs.ipynb\n"
    assert (clone / "class" / "02_runs.ipynb").is_file()


def test_open_without_jupyterlab_copies_and_says_what_to_install(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (clone / "book").mkdir()
    (clone / "book" / "references.bib").touch()
    monkeypatch.setattr(toolchain, "installed", lambda module: None)
    done = fourways("open", "2")
    assert done.stdout == "notebooks/02_runs.ipynb: a fresh copy\n"
    assert "-m pip install jupyterlab`, then the same command again" in str(done.exception)


def test_open_keeps_your_copy_and_hands_jupyterlab_its_words(
    clone: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Its `main` is a stand-in. An interrupt ends JupyterLab as SIGTERM does: it then ends its kernels."""
    started, handlers = list[list[str]](), dict[int, object]()
    lab = SimpleNamespace(main=started.append)
    for name in ("jupyterlab", "jupyterlab.labapp"):
        monkeypatch.setitem(sys.modules, name, lab)
    monkeypatch.setattr(toolchain, "installed", Path)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.setattr(signal, "signal", handlers.__setitem__)
    for folder in ("book", "notebooks"):
        (clone / folder).mkdir()
    (clone / "book" / "references.bib").touch()
    (clone / "notebooks" / "02_runs.ipynb").write_text("mine")
    done = fourways("open", "2", "1", "--ip=0.0.0.0", "--no-browser", "--", "--IdentityProvider.token=a b", "--y")
    assert (clone / "notebooks" / "02_runs.ipynb").read_text() == "mine"
    assert "notebooks/02_runs.ipynb: yours, as you left it" in done.stdout
    assert "notebooks/01_fails.ipynb: a fresh copy" in done.stdout
    assert started[0][0] == str(clone.resolve() / "notebooks" / "02_runs.ipynb")
    assert {f"--ServerApp.root_dir={clone}", "--LabApp.default_url=/lab/tree/notebooks/02_runs.ipynb"} <= {*started[0]}
    assert {"--IdentityProvider.token=a b", "--y", "--ip=0.0.0.0", "--no-browser"} <= {*started[0]}
    assert ("--allow-root" in started[0]) == (os.geteuid() == 0) and os.environ["FOURWAYS_ROOT"] == str(clone)
    assert handlers.keys() == {signal.SIGHUP, signal.SIGINT}
    elsewhere = tmp_path_factory.mktemp("a class")
    fourways("open", "2", "--folder", elsewhere)
    assert {f"--ServerApp.root_dir={elsewhere}", "--LabApp.default_url=/lab/tree/02_runs.ipynb"} <= {*started[1]}


def test_what_has_run_is_recorded_before_a_later_lesson_ends_the_run(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = lesson.run_all

    def run_all(lessons: list, progress: object, ended: Callable, *_: object, **__: object) -> None:
        ended(really([lessons[1]])[0])
        raise KeyboardInterrupt

    monkeypatch.setattr(lesson, "run_all", run_all)
    fourways("run", "--record")
    assert (clone / "book" / "recorded" / "02_runs.ipynb").is_file()


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
