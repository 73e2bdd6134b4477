"""One way of a kernel, stage by stage: what belongs to which stage, what comes back, and that it starts bare."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fourways import stages, toolchain, ways

SETUP = """
import numpy as np
from log import log

log("setup")

def make_inputs(size):
    return np.arange(size, dtype=np.float32), np.float32(3)

def reference(x, a):
    return a * x
"""
CELL = """
from fourways_aot import where

log("cell")

def scale_host(x, a, y):
    log("call")
    y[:] = a * x
"""


@pytest.fixture
def lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What stages and cells do, in order; the cells call `log`. What a run changes of Python itself is put back."""
    told: list[str] = []
    monkeypatch.setitem(sys.modules, "log", SimpleNamespace(log=told.append))
    monkeypatch.setitem(sys.modules, "fourways_aot", None)  # put back at the end, as it is now
    monkeypatch.delitem(sys.modules, "fourways_aot")
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    (tmp_path / "fourways_aot.py").write_text("from log import log\nlog('imported')\nwhere = 'built'\n")
    return told


def task(folder: Path, **changes: Any) -> ways.Task:
    told = {
        "way": "host",
        "module": "fourways.ways",
        "kernel": "scale",
        "setup": SETUP,
        "cell": CELL,
        "size": 5,
        "rtol": 0.0,
    }
    return told | {"binding": str(folder)} | changes


def run(told: ways.Task, lines: list[str]) -> Any:
    @contextmanager
    def stage(name: str) -> Iterator[None]:
        lines.append(f"begin {name}")
        yield
        lines.append(f"end {name}")

    return ways.run_way(told, stage)


def test_each_part_runs_within_its_stage(tmp_path: Path, lines: list[str]) -> None:
    run(task(tmp_path), lines)
    assert [line for line in lines if line.startswith("begin") or " " not in line] == [
        "begin import",  # the setup's imports
        "begin import",  # the way's
        "imported",
        "begin inputs",
        "setup",
        "begin build",
        "cell",
        "begin launch",
        "call",
    ]
    assert lines[lines.index("cell") :] == [
        *("cell", "end build", "begin launch", "call", "end launch"),
    ]
    assert {line.split()[1] for line in lines if line.startswith("begin")} < {*stages.STAGES}


def test_what_comes_back_launches_again(tmp_path: Path, lines: list[str]) -> None:
    ran = run(task(tmp_path), lines)
    x, a = ran.inputs
    assert (x.tolist(), a) == ([0, 1, 2, 3, 4], 3)
    np.testing.assert_array_equal(ran.expected, 3 * x)
    np.testing.assert_array_equal(ran.arguments[-1], ran.expected)
    ran.arguments[-1][:] = 0
    ran.function(*ran.arguments)
    assert ran.synchronize() is None
    np.testing.assert_array_equal(ran.arguments[-1], ran.expected)


def test_an_output_that_is_never_written_holds_no_right_answer(tmp_path: Path, lines: list[str]) -> None:
    ran = run(task(tmp_path, cell="def scale_host(x, a, y): pass"), lines)
    assert (ran.arguments[-1] != ran.expected).all()


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A stand-in for CuPy, whose arrays stay on the CPU."""

    class Module:
        def load(self, code: bytes) -> None: ...

    cuda = SimpleNamespace(
        Device=lambda: SimpleNamespace(synchronize=lambda: None),
        runtime=SimpleNamespace(free=lambda pointer: None),
        compiler=SimpleNamespace(function=SimpleNamespace(Module=Module, other="untouched")),
    )
    fake = SimpleNamespace(asarray=lambda array: array.copy(), cuda=cuda)
    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)
    return fake


def test_an_extension_module_is_machine_code(tmp_path: Path, lines: list[str], cupy: SimpleNamespace) -> None:
    """Its import is in the stage `load`; and the one asked for is taken, before an editable install's own finder."""

    class Editable:
        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> None:
            assert name != "fourways_aot", "the installed one"

    sys.meta_path.insert(0, Editable)  # type: ignore[arg-type]
    cell = "from fourways_aot import where\n\ndef scale_pybind11(x, a, y):\n    y[:] = a * x\n    log(where)\n"
    run(task(tmp_path, way="pybind11", cell=cell), lines)
    starts = ["begin import", "end import", "begin context", "end context", "begin load", "imported", "end load"]
    assert lines[: len(starts)] == starts
    assert lines[-3:] == ["begin launch", "built", "end launch"]


@pytest.mark.parametrize("way", ["nvrtc", "nvcc"])
def test_cupy_hands_machine_code_over_in_the_stage_load(
    tmp_path: Path, lines: list[str], cupy: SimpleNamespace, way: str
) -> None:
    cell = f"import cupy as cp\n\ndef scale_{way}(x, a, y):\n    cp.cuda.compiler.function.Module().load(b'')\n"
    run(task(tmp_path, way=way, cell=cell), lines)
    assert lines[-4:] == ["begin launch", "begin load", "end load", "end launch"]
    assert cupy.cuda.compiler.function.other == "untouched"


def test_nothing_but_the_standard_library_is_imported() -> None:
    code = "import sys, fourways.stages; print(*{name.split('.')[0] for name in sys.modules} - sys.stdlib_module_names)"
    variables = toolchain.child_environment()
    command = [sys.executable, "-S", "-c", code]  # no site: what an environment's own .pth files import is not ours
    done = subprocess.run(command, capture_output=True, text=True, env=variables, check=True)
    assert set(done.stdout.split()) <= {"fourways", "__main__"}
