"""First results in fresh processes: the host way as it is; pybind11 with stand-ins for CuPy and for the binding."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fourways import building, lesson, measuring, tables, toolchain

STAGES = ("start", "import", "context", "inputs", "build", "load", "launch")


@pytest.fixture(scope="module")
def kept(made_once: Callable[..., Path]) -> dict[str, Any]:
    """What `measure` keeps of lesson 01's host way: the table's rows, and what the caches held."""
    return json.loads((made_once("first-results", measure) / "kept.json").read_text())


@pytest.fixture
def left(kept: dict[str, Any]) -> list[list[dict[str, int]]]:
    """The files in Four Ways' cache before and after each process that had one of its own, with their inodes."""
    return kept["left"]


@pytest.fixture
def measured(kept: dict[str, Any]) -> tables.Table:
    """Lesson 01's host way, cold and warm."""
    return measuring.first_result_table(kept["rows"])


def measure(folder: Path) -> None:
    """Measure lesson 01's host way, cold and warm; keep the rows, and what each process left in its cache."""
    module = sys.modules["fourways.measuring.first_result"]
    left: list[list[dict[str, int]]] = []

    def files_of(variables: dict[str, str]) -> list[dict[str, int]]:
        there = Path(variables["FOURWAYS_CACHE_DIR"]).rglob("*") if variables else ()
        return [{path.name: path.stat().st_ino for path in there if path.is_file()}]

    def noting(found: lesson.Lesson, way: str, variables: dict[str, str], *more: Any) -> dict[str, float]:
        before = files_of(variables)
        stages = first_result(found, way, variables, *more)
        if variables:
            left.append(before + files_of(variables))
        return stages

    first_result = measuring.first_result
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "first_result", noting)
        table = measuring.first_results("01", ["host"], warm=3, cold_seconds=0)
    assert str(measuring.first_result_table(table.rows)) == str(table), "it can be made again from the rows"
    (folder / "kept.json").write_text(json.dumps({"rows": table.rows, "left": left}))


def test_a_warm_process_finds_everything_built_and_a_cold_one_nothing(left: list) -> None:
    """A file that is built again has another inode; its times also say when it was last used."""
    (empty, filled), *warm, (none, cold) = left
    assert filled and warm == [[filled, filled]] * 3, "a warm process builds again"
    assert empty == none == {} and len(cold) == len(filled), "a cold process finds what is built"


def test_rows_hold_the_median_process_and_the_spread(measured: tables.Table) -> None:
    cold, warm = measured.rows
    assert (warm["state"], warm["seconds"]["samples"]) == ("warm", 3)
    assert (cold["state"], cold["seconds"]["samples"]) == ("cold", 1)
    for row in measured.rows:
        assert (row["way"], row["clock"], row["verdict"]) == ("host", "host", "no difference")
        assert tuple(row["stages"]) == STAGES
        own = sum(length for stage, length in row["stages"].items() if stage not in ("start", "context", "inputs"))
        assert row["own_seconds"]["median"] == pytest.approx(own)
        assert min(row["stages"][stage] for stage in ("start", "import", "inputs", "build", "launch")) > 0


def row(way: str, *own: float) -> tables.Row:
    """A warm row whose processes took these seconds besides 0.2 s that all ways share."""
    lengths = dict.fromkeys(STAGES, 0.0) | {"context": 0.2, "import": sorted(own)[len(own) // 2]}
    both = {"seconds": tables.summary([0.2 + each for each in own]), "own_seconds": tables.summary(own)}
    return {"way": way, "state": "warm", "stages": lengths, "verdict": ""} | both


def test_a_difference_within_the_spread_is_none() -> None:
    module = sys.modules["fourways.measuring.first_result"]
    rows = [row("near", 0.5, 0.52, 0.6), row("first", 0.48, 0.5, 0.55), row("far", 0.7, 0.71, 0.8)]
    told = {each["way"]: each["verdict"] for each in module._judged(rows)}
    assert told == {"near": "no difference", "first": "no difference", "far": "+ 210 ms"}


def test_a_panel_is_titled_by_its_conclusion() -> None:
    module = sys.modules["fourways.measuring.first_result"]
    rows = [row("slow", 0.9), row("near", 0.5, 0.52, 0.6), row("first", 0.5, 0.5, 0.55)]
    rows = module._judged([*rows, row("far", 0.7)])
    assert module._conclusion(rows) == "no difference between near, first; far + 200 ms; slow + 400 ms"
    assert module._conclusion(rows[:1] + rows[2:]) == "first first; far + 200 ms; slow + 400 ms"


def test_the_table_shows_once_what_all_ways_share(measured: tables.Table) -> None:
    headings = [heading for heading, _ in measured.columns]
    assert headings[2:] == ["import", "build", "load", "launch", "sum", "p10 – p90", "against the fastest"]
    assert measured.note.startswith("Host clock; medians of 1 cold and 3 warm fresh processes. All ways take in add")
    assert "context 200 ms" in measuring.first_result_table([row("near", 0.5)]).note


def test_the_figure_has_cold_above_warm_and_ranges(measured: tables.Table) -> None:
    drawn = measuring.first_result_figure(measured.rows, "doublify")
    titles = [axes.get_title(loc="left") for axes in drawn.axes]
    assert titles == ["cold, nothing compiled yet:\nhost first", "warm, compiled before:\nhost first"]
    own = [stage for stage in STAGES if stage not in ("start", "context", "inputs")]
    assert [text.get_text() for text in drawn.legends[0].texts] == own
    (line,) = drawn.axes[1].lines
    assert list(line.get_xdata()) == [measured.rows[1]["own_seconds"][end] for end in ("p10", "p90")]


LESSON = """---
fourways: {{kernel: twice, ways: [pybind11], without: {{}}}}
---

# A lesson

```{{code-cell}} python
:tags: [setup]
import cupy
import numpy as np

def make_inputs(size):
    return (np.arange(size, dtype=np.float32),)

def reference(x):
    return 2 * x
```

```{{code-cell}} python
:tags: [way-pybind11]
import fourways_aot

def twice_pybind11(x, y):
    fourways_aot.twice(x, y)
```

```{{code-cell}} python
:tags: [way-host]
def twice_host(x, y):
    {host}
```
"""
CUPY = """
from types import SimpleNamespace
asarray = lambda array: array.copy()
cuda = SimpleNamespace(
    Device=lambda: SimpleNamespace(synchronize=lambda: None), runtime=SimpleNamespace(free=lambda pointer: None)
)
"""
FINDER = """
import sys
from importlib.machinery import PathFinder
sys.meta_path.insert(0, PathFinder)  # before an editable install's own, which knows the real fourways_aot
"""
BINDING = """
import time
time.sleep({sleep})
def twice(x, y):
    y[:] = 2 * x
"""


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with one lesson, where all ways seem to run. In fresh processes a stand-in plays CuPy."""
    for folder in ("lessons", "cpp/kernels"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "lessons" / "05_twice.md").write_text(LESSON.format(host="y[:] = 2 * x"))
    (tmp_path / "cupy.py").write_text(CUPY)
    (tmp_path / "sitecustomize.py").write_text(FINDER)
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(toolchain, "missing", lambda need: None)
    return tmp_path


def test_the_binding_is_built_once_and_counts_in_every_cold_run(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []

    def build(kernel: str, folder: Path) -> float:
        built.append(kernel)
        folder.mkdir()
        (folder / "fourways_aot.py").write_text(BINDING.format(sleep=0.1))
        return 1e6

    (clone / "fourways_aot.py").write_text(BINDING.format(sleep=0))  # as if it were installed
    monkeypatch.setattr(building, "build_binding", build)
    cold, warm = measuring.first_results("5", ["pybind11"], 1, 0).rows
    assert built == ["twice"]
    assert cold["seconds"]["p10"] > 1e6 and cold["stages"]["build"] > 1e6 > warm["seconds"]["p90"]
    assert warm["stages"]["load"] > 0.1, "what was built is imported, not what is installed, and that is loading"


def test_a_way_that_fails_loses_nothing_of_the_others(clone: Path) -> None:
    with pytest.raises(
        measuring.FirstResultError, match="pybind11: CMake could not build the module with twice"
    ) as raised:
        measuring.first_results("5", ["pybind11", "host"], 1, 0)
    assert raised.value.others
    assert [row["way"] for row in raised.value.others.rows] == ["host", "host"]


def test_the_answer_is_checked(clone: Path) -> None:
    found = lesson.find("5")
    found.path.write_text(LESSON.format(host="y[1:] = 2 * x[1:]"))
    with pytest.raises(measuring.FirstResultError, match="host: element 0 is .*, expected 0.0; 1 of 16 wrong"):
        measuring.first_result(found, "host", {})


def test_a_process_that_fails_is_told_in_its_own_words(clone: Path) -> None:
    found = lesson.find("5")
    found.path.write_text(LESSON.format(host="raise OSError('no such luck')"))
    with pytest.raises(measuring.FirstResultError, match="^host: OSError: no such luck$"):
        measuring.first_result(found, "host", {})


def test_more_launches_of_the_size_asked_for(clone: Path) -> None:
    found = lesson.find("5")
    found.path.write_text(LESSON.format(host="import time; time.sleep(x.size / 1e4); y[:] = 2 * x"))
    assert "launches" not in measuring.first_result(found, "host", {})
    stages = measuring.first_result(found, "host", {}, size=100, launches=5)
    assert stages["launch"] >= 0.01 and stages["launches"] >= 0.05


def test_further_launches_are_judged(clone: Path) -> None:
    found = lesson.find("5")
    found.path.write_text(LESSON.format(host="y[:] = x * (2 if np.isnan(y).all() else 3)"))
    assert measuring.first_result(found, "host", {}, launches=1)["launches"] > 0
    with pytest.raises(measuring.FirstResultError, match="host: element 1 is 3.0, expected 2.0"):
        measuring.first_result(found, "host", {}, launches=2)


def test_the_process_has_the_variables_asked_for(clone: Path) -> None:
    found = lesson.find("5")
    found.path.write_text(LESSON.format(host="import os; y[:] = float(os.environ['FACTOR']) * x"))
    assert measuring.first_result(found, "host", {"FACTOR": "2"})["launch"] > 0
    with pytest.raises(measuring.FirstResultError, match="element 1 is 3.0, expected 2.0"):
        measuring.first_result(found, "host", {"FACTOR": "3"})
