"""What a user names, a lesson or a kernel with a case; the ways of a lesson, found in its cells and run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fourways import lesson, toolchain
from fourways.kernels import InputError, NotThereError
from fourways.lesson.notebook import LessonError
from fourways.ways import WAYS, Ways

LESSON = """---
fourways: {kernel: triple, rtol: 1.0e-3}
---

```{code-cell} python
:tags: [setup]
make_inputs, reference = (lambda size: (list(range(size)),)), (lambda x: [3 * each for each in x])
```

```{code-cell} python
:tags: [way-nvcc]
raise RuntimeError("there is no GPU")
```

```{code-cell} python
:tags: [way-host]
def triple_host(x, y):
    y[:] = reference(x)
```
"""

KERNEL = 'extern "C" __global__ void amplify(const float *x, float *y, int n)\n{\n}\n'
CASE = """import numpy as np

def arguments(size):
    return {"x": np.ones(size, np.float32), "y": None, "n": np.int32(size)}

def reference(x):
    return {"y": x}
"""


def function(x, y): ...


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> lesson.Lesson:
    """A lesson with two ways, of which this machine can run one."""
    monkeypatch.setattr(toolchain, "missing", lambda need: None if need == "host compiler" else f"no {need} here")
    path = tmp_path / "05_triple.md"
    path.write_text(LESSON)
    return lesson.Lesson(path)


def test_load_runs_what_can_run_here(found: lesson.Lesson) -> None:
    ways = lesson.load(found)
    assert (ways.kernel, ways.rtol) == ("triple", 1e-3)
    assert ways.missing.keys() == set(WAYS) - {"host"}
    y: list[int] = []
    ways.functions["host"](*ways.make_inputs(3), y)
    assert y == [0, 3, 6]


def test_load_names_the_cell_that_fails(found: lesson.Lesson) -> None:
    with pytest.raises(LessonError, match=r"05_triple.md, cell 1 tagged way-nvcc: RuntimeError: there is no GPU"):
        lesson.load(found, ["nvcc"])
    assert lesson.load(found, ["host"]).functions.keys() == {"host"}


def test_load_says_which_way_a_lesson_lacks(found: lesson.Lesson) -> None:
    with pytest.raises(LessonError, match="05_triple has no way pycuda: no such cell"):
        lesson.load(found, ["host", "pycuda"])


def test_collect_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LessonError, match="no make_inputs"):
        lesson.collect({"doublify_host": function})
    with pytest.raises(LessonError, match="of one kernel.*'doublify', 'saxpy'"):
        lesson.collect({"saxpy_nvcc": function, "doublify_host": function})
    monkeypatch.setattr(toolchain, "missing", lambda need: "no CuPy" if need == "cupy" else None)
    with pytest.raises(LessonError, match="no way is defined; nvrtc: no CuPy"):
        lesson.collect({})
    monkeypatch.setattr(toolchain, "missing", lambda need: None)
    with pytest.raises(LessonError, match="found none"):
        lesson.collect({})


def test_collect_takes_the_ways_alone_in_their_order() -> None:
    there = {"make_inputs": function, "reference": function, "doublify": function, "doublify_fast": function}
    ways = lesson.collect({"doublify_host": function, "doublify_nvrtc": function} | there, rtol=1e-6)
    assert (ways.kernel, list(ways.functions), ways.rtol) == ("doublify", ["nvrtc", "host"], 1e-6)


def test_runnable_and_only() -> None:
    functions = {"nvrtc": function, "nvcc": function, "host": function}
    ways = Ways("k", function, function, functions, {"nvcc": "no nvcc", "pybind11": "no module"})
    assert list(ways.runnable) == ["nvrtc", "host"]
    chosen = ways.only(["host", "nvcc"])
    assert (list(chosen.functions), list(chosen.runnable), chosen.missing) == (
        ["nvcc", "host"],
        ["host"],
        {"nvcc": "no nvcc"},
    )
    assert list(ways.functions) == ["nvrtc", "nvcc", "host"], "the ways asked stay as they are"


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("1", "01_doublify"),
        ("doublify", "01_doublify"),
        ("00_two_workflows", "00_two_workflows"),
        ("reduce", "03_reduce_and_scan"),
    ],
)
def test_a_lesson_by_number_slug_or_kernel(name: str, slug: str) -> None:
    target = lesson.target(name)
    assert (target.name, target.case) == (slug, None) and target == lesson.target(slug)
    assert target.program("nvrtc", 16) == lesson.program(lesson.find(slug), "nvrtc", 16)


@pytest.mark.parametrize("target", lesson.all_lessons(), ids=lambda each: each.number)
def test_each_way_on_the_gpu_is_a_program_to_profile(target: lesson.Lesson) -> None:
    for way in WAYS:
        if cells := target.cells(f"way-{way}"):
            program = lesson.program(target, way, 16)
            compile(program, "program", "exec")
            assert all(line in program for line in "\n".join(cells).split("\n"))


@pytest.mark.parametrize(
    ("deed", "why"),
    [("y.array[:] = 3 * x.array", ""), ("y.array[1:] = 3 * x.array[1:]", "element 0 is nan .*"), ("pass", ".*")],
)
def test_a_program_to_profile_checks_its_first_call(deed: str, why: str, tmp_path: Path) -> None:
    """Modules in a folder play CuPy, and print what is called."""
    (tmp_path / "cupyx").mkdir()
    (tmp_path / "cupyx" / "__init__.py").touch()
    (tmp_path / "cupyx" / "profiler.py").write_text("def profile(): print('profiled'); return open(__file__)\n")
    (tmp_path / "cupy.py").write_text(
        "import numpy\nfrom types import SimpleNamespace as N\n"
        "class Array(N):\n    def get(self): return self.array\n"
        "def asarray(array): return Array(array=array.copy())\n"
        "def RawModule(code, options=()): print(*options)\n"
        "cuda = N(Device=lambda: N(synchronize=lambda: print('waited')))\n"
    )
    (tmp_path / "lesson.md").write_text(
        LESSON.replace("list(range(size))", "__import__('numpy').ones(size, 'f4')")
        .replace("[3 * each for each in x]", "3 * x")
        .replace(
            'raise RuntimeError("there is no GPU")',
            "import cupy\ncupy.RawModule('text', options=('-DN=1',))\n"
            f"def triple_nvcc(x, y):\n    print('called')\n    {deed}",
        )
    )
    program = lesson.program(lesson.Lesson(tmp_path / "lesson.md"), "nvcc", 5)
    environment = toolchain.child_environment()
    environment["PYTHONPATH"] = f"{tmp_path}{os.pathsep}{environment['PYTHONPATH']}"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    if why:
        assert done.returncode == 1 and re.match(why, done.stderr)
        assert done.stdout == "-DN=1 -lineinfo\ncalled\n"
    else:
        assert done.returncode == 0, done.stderr
        assert done.stdout == "-DN=1 -lineinfo\ncalled\nprofiled\ncalled\nwaited\n"


def test_a_lessons_ways_are_those_it_names() -> None:
    ways = lesson.target("1").ways(["host"])
    assert (ways.kernel, list(ways.functions)) == ("doublify", ["host"])


def test_a_kernel_of_ones_own_with_its_case(tmp_path: Path) -> None:
    (tmp_path / "amplify.cu").write_text(KERNEL)
    (tmp_path / "amplify_case.py").write_text(CASE)
    target = lesson.target(str(tmp_path / "amplify.cu"), tmp_path / "amplify_case.py")
    assert target.name == "amplify.cu" and target.case
    assert target.ways(["host"]).kernel == "amplify"
    compile(target.program("host", 16), "program", "exec")


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("nothing", NotThereError, "no lesson 'nothing'; there are: 00_two_workflows"),
        ("scan", NotThereError, "no lesson 'scan'; there are: 00_two_workflows"),
        ("none.cu", NotThereError, "no file none.cu"),
    ],
)
def test_another_name_is_refused_with_what_to_do(name: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        lesson.target(name)


def test_a_file_and_a_case_belong_together(tmp_path: Path) -> None:
    (tmp_path / "amplify.cu").write_text(KERNEL)
    with pytest.raises(InputError, match="a kernel of your own needs a --case"):
        lesson.target(str(tmp_path / "amplify.cu"))
    with pytest.raises(InputError, match="1: a case goes with a .cu or .cuh file"):
        lesson.target("1", tmp_path / "case.py")
