"""A way as a program of its own: where its stages begin, what it checks, and that every lesson's way is one."""

import re
from pathlib import Path
from typing import Any

import pytest

from fourways import fresh_process, lesson
from fourways.ways import WAYS, program

SETUP = """
import numpy as np
print("setup")

def make_inputs(size):
    return np.arange(size, dtype=np.float32), np.float32(3)

def reference(x, a):
    return {"y": a * x, "first": (a * x[:1]).astype(int)}
"""
CELL = """from math import floor

def scale_host(x, a, y, first):
    y[:], first[:] = a * x, floor(a * x[0])
"""


def ended(setup: str = SETUP, cell: str = CELL, size: int = 5, **more: Any) -> fresh_process.Ended:
    return fresh_process.start(program.text("host", "scale", setup, cell, size, **more))


def test_a_right_answer_and_its_stages() -> None:
    done = ended(launches=3, reads=True)
    assert done.status == 0, done.words
    assert list(done.stages) == ["start", "import", "inputs", "build", "launch", "check", "launches", "end"]


@pytest.mark.parametrize(
    ("cell", "launches", "why"),
    [
        (CELL.replace("a * x,", "a * x + (x == 1),"), 0, "y: element 1 is 4.0, expected 3.0; 1 of 5 wrong.*"),
        (CELL.replace("y[:], first[:] = a * x,", "first[:] ="), 0, "y: element 0 is nan .*"),
        (CELL.replace("y[:], first[:] = a * x, floor(a * x[0])", "y[:] = a * x"), 0, "first: element 0 is -1, .*"),
        (CELL + "    scale_host.calls += 1\n    y += scale_host.calls > 1\nscale_host.calls = 0\n", 2, "y: element .*"),
        ("def scale_host(*_): raise OSError('no luck')", 0, "OSError: no luck"),
    ],
)
def test_the_answers_are_checked(cell: str, launches: int, why: str) -> None:
    done = ended(cell=cell, launches=launches)
    assert done.status and re.fullmatch(why, done.why), done.why


def test_an_output_in_place_holds_its_input_before() -> None:
    setup = SETUP.replace('{"y": a * x, "first": (a * x[:1]).astype(int)}', "a * x")
    cell = "def scale_host(x, a, y):\n    y *= a\n"
    assert ended(setup, cell, in_place={0: 0}, launches=2).status == 0
    assert ended(setup, cell).why.startswith("element 0 is nan")


@pytest.mark.parametrize("way", ["nvrtc", "pybind11"])
def test_a_way_on_the_gpu(way: str, tmp_path: Path) -> None:
    """Modules in `folder` play CuPy and the binding."""
    (tmp_path / "bound.py").write_text("where = 'built'")
    (tmp_path / "cupy.py").write_text(
        "import sys\nfrom types import SimpleNamespace as N\n"
        "class Array(N):\n    def get(self): return self.array\n    def set(self, array): self.array[...] = array\n"
        "def asarray(array): return Array(array=array.copy())\n"
        "def RawModule(code, options=()): print(options)\n"
        "cuda = N(Device=lambda: N(synchronize=lambda: None), runtime=N(free=lambda pointer: print('context')))\n"
        "sys.modules['cupyx'] = N(); sys.modules['cupyx.profiler'] = N(profile=open)\n"
    )
    cell = f"import cupy as cp\nfrom bound import where\ncp.RawModule('text', options=('-DN=1',))\n{CELL}"
    cell = cell.replace(
        "host(x, a, y, first):", f"{way}(x, a, y, first):\n    x, y, first = x.array, y.array, first.array"
    )
    found = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n"
    text = found + program.text(way, "scale", SETUP, cell, 5, launches=2, profiled=True)
    text = text.replace("with profile():", "if print('profiled') is None:")
    done = fresh_process.start(f"{text}\nimport json\nprint(json.dumps({{'where': where}}))")
    assert done.status == 0, done.words
    assert done.answer == {"where": "built"}
    stages = ["start", "import", "context", "inputs", "build", "launch", "check", "launches", "profiled", "end"]
    assert list(done.stages) == stages[:3] + ["load"] * (way == "pybind11") + stages[3:]


@pytest.mark.parametrize("target", lesson.all_lessons(), ids=lambda each: each.number)
def test_each_lesson_s_ways_are_programs(target: lesson.Lesson) -> None:
    stages = {"", "import", "context", "inputs", "build", "launch", "check", "profiled"}
    for way in WAYS:
        if target.cells(f"way-{way}"):
            program = lesson.program(target, way, 16, profiled=way != "host")
            assert {name for name, _ in fresh_process.parts(program)} - {"load"} <= stages
            compile(program, "program", "exec")
            assert all(line in program for line in "\n".join(target.cells(f"way-{way}")).split("\n"))
