"""The programs of the page "When a kernel fails", without a GPU: fake launches that fail late."""

import sys

import pytest

from fourways.experiments import failures

FAKE = """
faults = []
def doublify(x, y):
    if x == "nowhere":
        faults.append("CUDA_ERROR_ILLEGAL_ADDRESS")
def wait():
    if faults:
        raise RuntimeError(faults[0] + ": an illegal memory access was encountered\\nsecond line")
"""


@pytest.fixture
def faked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "_setup", lambda way: FAKE)


@pytest.mark.usefixtures("faked")
def test_each_statement_is_run_and_says_what_it_raised() -> None:
    rows = failures.run("import time\ndoublify('nowhere', 1)  # the bug\nx = 1\nwait()\nx = 1 / 0\nwait()").rows
    late = "RuntimeError: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"
    assert [row["line"] for row in rows] == ["doublify('nowhere', 1)", "wait()", "x = 1 / 0", "wait()"]
    assert [row["raised"] for row in rows] == ["", late, "ZeroDivisionError: division by zero", late]


@pytest.mark.usefixtures("faked")
def test_a_process_that_dies_says_how_and_keeps_its_rows() -> None:
    kill = "import os, signal\ndoublify(1, 2)\nos.kill(os.getpid(), signal.SIGKILL)"
    assert failures.run(kill).rows == [
        {"line": "doublify(1, 2)", "raised": ""},
        {"line": "(the process ends)", "raised": "SIGKILL"},
    ]


def test_a_program_that_does_not_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "_PATIENCE", 0.5)
    said = failures._output([sys.executable, "-c", "print(1, flush=True); import time; time.sleep(9)"], {})
    assert said.startswith("1\n") and "did not end" in said


def test_programs_begin_with_lesson_01_s_cells() -> None:
    for way in ("nvrtc", "nvcc", "pycuda", "pybind11"):
        setup = failures._setup(way)
        compile(setup, "setup", "exec")
        assert f"def doublify_{way}(x, y)" in setup and setup.endswith(failures.PRELUDE)
