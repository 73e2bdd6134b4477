"""What a user names: a lesson by its number, slug or kernel, or a kernel of their own with a case."""

from pathlib import Path

import pytest

from fourways import lesson
from fourways.kernels import InputError, NotThereError

KERNEL = 'extern "C" __global__ void amplify(const float *x, float *y, int n)\n{\n}\n'
CASE = """import numpy as np

def arguments(size):
    return {"x": np.ones(size, np.float32), "y": None, "n": np.int32(size)}

def reference(x):
    return {"y": x}
"""


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
        ("scan", NotThereError, "lesson 03 calls it: fourways run 03; alone it needs a --case"),
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
