"""A sixth way is one module: every command has it, without another edit."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fourways import cli, figures, lesson, timing, toolchain, ways

pytestmark = pytest.mark.skipif(bool(toolchain.missing("host compiler")), reason="no C++ compiler")

KERNEL = """extern "C" __global__ void twice(const float *x, float *y, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}
"""
CASE = """import numpy as np
sizes = (0, 5, 300)
def make_inputs(size): return np.arange(size, dtype=np.float32)
def reference(x): return 2 * x
"""
LESSON = """---
fourways: {kernel: twice, ways: [toy]}
---

# A lesson

```{code-cell} python
:tags: [setup]
import numpy as np
def make_inputs(size):
    return (np.arange(size, dtype=np.float32),)
def reference(x):
    return 2 * x
```

```{code-cell} python
:tags: [way-toy]
def twice_toy(x, y):
    y[:] = 2 * x
```
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A kernel of one's own and its case, where the toy way is registered, in fresh processes, too."""
    here = Path(__file__).parent
    monkeypatch.syspath_prepend(here)
    monkeypatch.setenv("PYTHONPATH", str(here))
    sys.modules.pop("toy_way", None)
    __import__("toy_way")
    (tmp_path / "mine.cu").write_text(KERNEL)
    (tmp_path / "case.py").write_text(CASE)
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "mine.cu"
    del ways.WAYS["toy"], figures.COLOURS["toy"]


def fourways(*words: str) -> Result:
    return CliRunner().invoke(cli.app, [*words, "--case", "case.py"])


def test_check_and_time(mine: Path) -> None:
    done = fourways("check", "mine.cu", "-w", "host", "-w", "toy", "--json", "rows.json")
    assert done.exit_code == 0, done.output
    (rows,) = json.loads(Path("rows.json").read_text())["tables"].values()
    assert {row["way"]: row["outcome"] for row in rows} == {"host": "right", "toy": "right"}
    done = fourways("time", "mine.cu", "-w", "toy", "--size", "1000")
    assert done.exit_code == 0 and "toy" in done.stdout, done.output
    assert figures.COLOURS["toy"] == "#123456"


def test_the_cell(mine: Path) -> None:
    done = fourways("case", "mine.cu", "--way", "toy")
    assert "def twice_toy(n, x, y):" in done.stdout


@pytest.mark.long
def test_first_results(mine: Path) -> None:
    done = fourways("time", "mine.cu", "--first", "-w", "toy", "--json", "first.json")
    assert done.exit_code == 0, done.output
    rows = json.loads(Path("first.json").read_text())["tables"]["first_result"]
    assert [(row["way"], row["state"]) for row in rows] == [("toy", "cold"), ("toy", "warm")]
    assert rows[0]["stages"]["build"] > 0


def test_a_lesson_has_it(mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("lessons", "cpp/kernels"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "lessons" / "05_twice.md").write_text(LESSON)
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    assert lesson.load(lesson.find("5")).functions.keys() == {"toy"}
    assert [row["way"] for row in timing.first_results("5").rows] == ["toy", "toy"]
    (cell,) = (cell for cell in lesson.find("5").notebook.cells if "way-toy" in lesson.tags(cell))
    assert lesson.skip_reason(cell) is None
