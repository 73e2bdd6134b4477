"""Lessons and programs run in a fresh process and recorded: with stand-ins for CuPy and for CUPTI's own functions."""

from pathlib import Path

import pytest

from fourways import lesson, tables, timeline, toolchain
from fourways.kernels import InputError

LESSON = """---
fourways: {kernel: twice, ways: [nvrtc, host], without: {}}
---

# A lesson

```{code-cell} python
:tags: [setup]
import cupy
import numpy as np
from cupy.cuda import compiler
from cupti import kernel

def make_inputs(size):
    return (np.arange(size, dtype=np.float32),)

def reference(x):
    return 2 * x
```

```{code-cell} python
:tags: [way-nvrtc]
compiler.function.Module().load(b"machine code")

def twice_nvrtc(x, y):
    kernel("twice")
    y[:] = 2 * x
```

```{code-cell} python
:tags: [way-nvcc]
raise RuntimeError("this way cannot run here")
```

```{code-cell} python
:tags: [way-host]
def twice_host(x, y):
    y[:] = 2 * x
```
"""
STAND_INS = {
    "cupy/__init__.py": """
import sys

assert "cupti" in sys.modules, "CUPTI must record before CuPy is imported"
from cupy import cuda

asarray = lambda array: array.copy()
""",
    "cupy/cuda/__init__.py": """
from types import SimpleNamespace
from cupti import took
from cupy.cuda import compiler

Device = lambda: SimpleNamespace(synchronize=lambda: took("SYNCHRONIZATION", type=4))
runtime = SimpleNamespace(free=lambda pointer: took("RUNTIME", cbid=1, thread_id=1))
""",
    "cupy/cuda/compiler.py": """
from types import SimpleNamespace


class Module:
    def load(self, code):
        pass


function = SimpleNamespace(Module=Module)
""",
    "cupyx/__init__.py": "",
    "cupyx/profiler.py": """
import itertools
from contextlib import contextmanager
import cupy
from cupti import begin, end, took

numbers = itertools.count(1)


@contextmanager
def time_range(name):
    number = next(numbers)
    begin(name, number)
    yield
    end(number)


@contextmanager
def profile():
    took("RUNTIME", cbid=2, thread_id=1)
    yield
    took("RUNTIME", cbid=3, thread_id=1)
""",
    "lessons/05_twice.md": LESSON,
    "cpp/kernels/twice.cuh": "",
}


@pytest.fixture
def found(recording: Path, monkeypatch: pytest.MonkeyPatch) -> lesson.Lesson:
    """A clone's only lesson, on a machine that seems to have all but nvcc."""
    for name, text in STAND_INS.items():
        (recording / name).parent.mkdir(parents=True, exist_ok=True)
        (recording / name).write_text(text)
    monkeypatch.setenv("FOURWAYS_ROOT", str(recording))
    return lesson.find("5")


def named(rows: list[tables.Row], kind: str) -> list[str]:
    return [row["name"] for row in rows if row["kind"] == kind]


def test_the_stages_of_a_way_are_ranges_in_order(found: lesson.Lesson) -> None:
    rows = timeline.of_lesson(found, "nvrtc", 100)
    stages = ["import", "context", "import", "inputs", "build", "load", "launch", "warm launches", "copy back"]
    assert named(rows, "NVTX range") == stages
    assert named(timeline.part(rows, "context"), "API call") == ["cudaFree"]
    assert "load" in named(timeline.part(rows, "build"), "NVTX range"), "within the build"
    assert named(timeline.part(rows, "launch"), "kernel") == ["twice"]
    warm = timeline.part(rows, "warm launches")
    assert named(warm, "kernel") == ["twice"] * 10
    assert [row["kind"] for row in warm] == ["NVTX range", *["kernel"] * 10, "synchronization"], "one wait for all"
    profiled = [row["name"] for row in rows if row["name"].startswith("cudaProfiler") or row["name"] == "warm launches"]
    assert profiled == ["cudaProfilerStart", "warm launches", "cudaProfilerStop"]


def test_a_wrong_answer_gives_no_timeline(found: lesson.Lesson) -> None:
    found.path.write_text(LESSON.replace("y[:] = 2 * x", "y[1:] = 2 * x[1:]"))
    wrong = "05_twice, nvrtc: the recorded process failed:\nCheckFailure: twice_nvrtc, size 100: element 0 is"
    with pytest.raises(timeline.TimelineError, match=wrong):
        timeline.of_lesson(found, "nvrtc", 100)


def test_a_way_that_fails_is_told_in_its_own_words_without_a_traceback(found: lesson.Lesson) -> None:
    found.path.write_text(LESSON.replace("y[:] = 2 * x", "raise OSError('no such luck')"))
    with pytest.raises(timeline.TimelineError) as told:
        timeline.of_lesson(found, "nvrtc", 100)
    assert str(told.value) == "05_twice, nvrtc: the recorded process failed:\nOSError: no such luck"


def test_a_program_runs_in_its_folder_with_its_arguments(recording: Path) -> None:
    (recording / "beside.py").write_text("from cupti import kernel")
    program = recording / "program.py"
    program.write_text(
        "import beside, pathlib, sys\nassert __name__ == '__main__' and pathlib.Path('beside.py').exists()\n"
        "beside.kernel(' '.join(sys.argv[1:]))\nsys.exit(0)\n"
    )
    assert named(timeline.of_program(program, "3", "--size", "-DX=1"), "kernel") == ["3 --size -DX=1"]


def test_a_program_may_be_a_text(recording: Path) -> None:
    text = "import sys\nfrom cupti import kernel\nkernel(sys.argv[1])\n"
    assert named(timeline.of_program(text, "3"), "kernel") == ["3"]


def test_a_program_that_fails_is_told_in_its_own_words(recording: Path) -> None:
    program = recording / "program.py"
    program.write_text("import sys\nsys.exit('no such luck')\n")
    with pytest.raises(timeline.TimelineError, match=r"^program.py: the recorded process failed:\nno such luck$"):
        timeline.of_program(program)


def test_a_program_without_work_on_the_gpu_has_no_timeline(recording: Path) -> None:
    program = recording / "program.py"
    program.write_text("from cupti import took\ntook('RUNTIME', cbid=1, thread_id=1)\n")
    with pytest.raises(timeline.TimelineError, match="program.py: CUPTI recorded no work on the GPU"):
        timeline.of_program(program)


@pytest.mark.parametrize(
    "lacking", ["no NVIDIA driver here", "the package cupti-python is not installed: pip install cupti-python"]
)
def test_what_this_machine_lacks_is_one_line(lacking: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", lambda way: lacking if "driver" in lacking else None)
    monkeypatch.setattr(toolchain, "installed", lambda module: None)
    for ask in (lambda: timeline.of_lesson(lesson.find("1"), "nvrtc"), lambda: timeline.of_program(Path("my.py"))):
        with pytest.raises(timeline.TimelineError) as told:
            ask()
        assert str(told.value) == f"no timeline: {lacking}"


def test_a_way_needs_its_compiler(found: lesson.Lesson) -> None:
    with pytest.raises(timeline.TimelineError, match="^no timeline: not here$"):
        timeline.of_lesson(found, "nvcc")


def test_a_way_without_a_timeline_is_refused() -> None:
    with pytest.raises(timeline.TimelineError, match="host way leaves the GPU idle"):
        timeline.of_lesson(lesson.find("1"), "host")
    with pytest.raises(InputError, match="has no cell tagged way-fortran"):
        timeline.of_lesson(lesson.find("1"), "fortran")
