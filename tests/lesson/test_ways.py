"""What a user names, a lesson or a kernel with a case; the ways of a lesson, found in its cells and run."""

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
        ("scan", NotThereError, "scan: no lesson is about this kernel; alone it needs a --case"),
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
