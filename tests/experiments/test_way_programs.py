"""A way's cell as a program of its own, here on NumPy's arrays: no GPU is needed."""

from pathlib import Path

import pytest

from fourways import kernels, lesson, toolchain
from fourways.experiments import way_programs

LESSON = """---
fourways: {kernel: twice, ways: [host], without: {}}
---

# A lesson

```{code-cell} python
:tags: [setup]
factor = 2
```

```{code-cell} python
:tags: [setup]
raise SystemError("only the first of these cells goes before a way of the package")
```

```{code-cell} python
:tags: [way-host]
import numpy as np

def twice_host(x, y):
    y[...] = factor * x
```

```{code-cell} python
:tags: [way-careful]
import built_before

def twice_careful(x, y):
    if "float64" in (x.dtype, y.dtype):
        raise TypeError("float32 wanted")
    y[...] = built_before.twice(x)
```

```{code-cell} python
:tags: [way-wrong]
import numpy

def twice_wrong(x, y):
    y[...] = x
```

```{code-cell} python
:tags: [way-loud]
import numpy

def twice_loud(x, y):
    raise TypeError("twice(): these arguments will not do\\nInvoked with types: an array")
```

```{code-cell} python
:tags: [way-endless]
import time

def twice_endless(x, y):
    time.sleep(1000)
```

```{code-cell} python
:tags: [way-killed]
import os

def twice_killed(x, y):
    os.abort()
```

```{code-cell} python
:tags: [way-fragile]
import os
import signal
import numpy

def twice_fragile(x, y):
    print("no part of the answer")
    if y.dtype == "float64":
        os.kill(os.getpid(), signal.SIGSEGV)
    y[...] = 2 * x
```

```{code-cell} python
:tags: [way-other, needs-torch]
import torch
```
"""


@pytest.fixture
def ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with that lesson alone; its folder of things built before."""
    (tmp_path / "lessons").mkdir()
    (tmp_path / "cpp" / "kernels").mkdir(parents=True)
    (tmp_path / "lessons" / "01_twice.md").write_text(LESSON)
    (tmp_path / "built_before.py").write_text("def twice(x):\n    return 2 * x\n")
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    monkeypatch.setattr(toolchain, "missing", lambda need: f"no {need}" if need == "torch" else None)
    assert kernels.root() == tmp_path
    return tmp_path


def test_each_way_is_a_program(ours: Path) -> None:
    host, careful = way_programs.run("01", ["host", "careful", "other"], ours)
    assert (host["way"], careful["way"]) == ("host", "careful"), "what cannot run here is left out"
    assert list(host["stages"]) == ["start", "import", "build", "launch"]
    assert host["seconds"]["median"] == pytest.approx(sum(host["stages"].values()))
    assert host["seconds"]["samples"] == 3 and host["launch_seconds"]["samples"] == 15
    assert host["stages"]["import"] > 0
    assert set(host["mistakes"].values()) == {"right"}
    assert list(careful["mistakes"].values()) == ["TypeError", "TypeError", "right", "right"]


def test_a_program_that_fails_says_why_and_spoils_no_other(ours: Path) -> None:
    wrong, loud, killed, host = way_programs.run("01", ["wrong", "loud", "killed", "host"], ours, times=1)
    assert wrong["failed"].startswith("AssertionError: the first answer is wrong: [1.0, 2.0")
    assert loud == {"way": "loud", "failed": "TypeError: twice(): these arguments will not do"}
    assert killed["failed"] == "SIGABRT"
    assert host["seconds"]["samples"] == 1
    assert way_programs.run("01", ["endless"], ours, patience=2) == [{"way": "endless", "failed": "not done after 2 s"}]


def test_a_crash_over_a_wrong_array_costs_that_cell_alone(ours: Path) -> None:
    (fragile,) = way_programs.run("01", ["fragile"], ours, times=2)
    assert fragile["seconds"]["samples"] == 2 and fragile["launch_seconds"]["samples"] == 10
    assert fragile["mistakes"] == {
        "x is float64": "right",
        "y is float64": "crash: SIGSEGV",
        "x has gaps": "not tried",
        "x on the host": "not tried",
    }


ROW = {
    "clock": "host",
    "seconds": {"median": 0.5, "p10": 0.5, "p90": 0.5, "samples": 3},
    "stages": {"start": 0.1, "import": 0.2, "build": 0.03, "launch": 0.17},
    "launch_seconds": {"median": 4e-6, "p10": 4e-6, "p90": 4e-6, "samples": 15},
    "mistakes": {"x is float64": "TypeError", "x has gaps": "right"},
}


def test_the_table(tmp_path: Path) -> None:
    (file := tmp_path / "module.so").write_bytes(bytes(1500))
    rows: list = [{"way": "broken", "failed": "TypeError: no"}]
    rows += [ROW | {"way": way} for way in ("inline", "module", "elsewhere")]
    table = way_programs.table(rows, {"module": 7.0, "elsewhere": None}, {"module": file}, {"inline": "trying"})
    broken, inline, module, elsewhere = (
        dict(zip((name for name, _ in table.columns), cells, strict=True)) for cells in table.cells()
    )
    assert (inline["when"], inline["build"], inline["ships, kB"]) == ("JIT", "30.0 ms", "")
    assert (module["when"], module["build"], module["ships, kB"]) == ("AOT", "7.00 s", "1.5")
    assert (elsewhere["when"], elsewhere["build"]) == ("AOT", "")
    assert [value for value in broken.values() if value] == ["broken", "JIT", "failed: TypeError: no"]
    assert table.note == "Host clock; the median of 3 fresh processes each, caches filled."
    assert (inline["for"], module["for"], inline["a launch"]) == ("trying", "", "4.00 µs")
    once = way_programs.table([ROW | {"way": "one", "seconds": ROW["seconds"] | {"samples": 1}}], {}, {}, {})
    assert once.note == "Host clock; one run each, in a fresh process, caches filled."


def test_the_table_of_mistakes() -> None:
    table = way_programs.mistakes_table([{"way": "broken", "failed": "TypeError: no"}, ROW | {"way": "one"}])
    assert table.cells() == [["one", "TypeError", "right"]]
    assert table.note == "broken failed: TypeError: no."
    assert [name for name, _ in table.columns] == ["way", "x is float64", "x has gaps"]


@pytest.mark.parametrize(
    ("name", "ways"),
    [
        ("12", "nanobind tvm_ffi numba"),
        ("beyond_the_four", "cuda_core cython torch_compile torch_inline torch_op cutile"),
    ],
)
def test_a_cell_for_each_further_way(name: str, ways: str) -> None:
    for way in ways.split():
        (source,) = lesson.find(name).cells(f"way-{way}")
        assert f"def doublify_{way}(x, y):" in source
