"""A lesson's cells as NVTX ranges: only where asked, with their numbers and tags, the profiler on for a tag alone."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from fourways import lesson, toolchain

LESSON = """---
fourways: {kernel: doublify}
---

# 05 · A lesson of the tests

```{code-cell} python
:tags: [setup]
1 + 1
```

```{code-cell} python
:tags: [way-nvrtc]
raise RuntimeError("this machine cannot run it")
```

```{code-cell} python
:tags: [measure, needs-host]
2 + 2
```
"""
PROFILER = """
from contextlib import contextmanager

def log(*words):
    print(*words, file=open(LOG, "a"))

@contextmanager
def time_range(name):
    log("begin", name)
    yield
    log("end", name)

@contextmanager
def profile():
    log("start")
    yield
    log("stop")
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with one lesson, and a stand-in for CuPy's profiler, which writes what is asked of it to this file."""
    log = tmp_path / "log"
    for name, text in {
        "lessons/05_test.md": LESSON,
        "cpp/kernels/doublify.cuh": "",
        "cupyx/__init__.py": "",
        "cupyx/profiler.py": f"LOG = {str(log)!r}\n{PROFILER}",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(toolchain, "missing", lambda need: "not here" if need == "cupy" else None)
    return log


def test_cells_are_ranges_where_asked(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOURWAYS_NVTX", "1")
    result = lesson.run_all([lesson.find("5")])[0]
    assert not result.error and result.ran == 2
    first, third = "cell 1 setup", "cell 3 measure needs-host"
    assert log.read_text().splitlines() == [f"begin {first}", f"end {first}", f"begin {third}", f"end {third}"]


def test_a_tag_switches_the_profiler_on_for_its_cells(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOURWAYS_NVTX", "measure")
    assert not lesson.run_all([lesson.find("5")])[0].error
    third = "cell 3 measure needs-host"
    assert log.read_text().splitlines()[2:] == ["start", f"begin {third}", f"end {third}", "stop"]


def test_nothing_is_named_unless_asked(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FOURWAYS_NVTX", raising=False)
    result = lesson.run_all([lesson.find("5")])[0]
    assert not result.error and result.ran == 2
    assert not log.exists()


def test_another_shell_has_its_cells_named(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the process does that runs a whole lesson under a profiler."""
    monkeypatch.syspath_prepend(log.parent)
    for name in [name for name in sys.modules if name.split(".")[0] == "cupyx"]:
        monkeypatch.delitem(sys.modules, name)
    events: dict[str, object] = {}
    shell = SimpleNamespace(events=SimpleNamespace(register=events.__setitem__))
    lesson.name_cells(shell, lesson.find("5"))
    for source in ("1 + 1", "something else"):
        events["pre_run_cell"](SimpleNamespace(raw_cell=source))  # type: ignore[operator]
        events["post_run_cell"](None)  # type: ignore[operator]
    assert log.read_text().splitlines() == ["begin cell 1 setup", "end cell 1 setup", "begin cell", "end cell"]
