"""A way's cell as a program of its own, here on NumPy's arrays: no GPU is needed."""

from pathlib import Path

import pytest

from fourways import kernels, toolchain
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
