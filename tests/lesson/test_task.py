"""What a fresh process is told: a lesson's own cells, or cells for a kernel of one's own; both run as they are."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fourways import checking, lesson, ways
from fourways.case import Case
from fourways.lesson.notebook import LessonError

ADD = """
extern "C" __global__ void add_one(const float *x, float *y, long long n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1;
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "it's mine.cu"
    path.write_text(ADD)
    return path


def run(told: ways.Task) -> Any:
    """Run a task as the process does that gets it: as JSON."""
    return ways.run_way(json.loads(json.dumps(told)), nullcontext)


def test_a_lesson_s_own_cells(tmp_path: Path) -> None:
    found = lesson.find("doublify")
    told = lesson.task(found, "host", 33, tmp_path)
    assert told["setup"] == "\n".join(found.cells("setup")) and told["cell"] == found.cells("way-host")[0]
    assert (told["kernel"], told["way"], told["size"], told["rtol"]) == ("doublify", "host", 33, 0.0)
    ran = run(told)
    assert checking.compare(ran.arguments[-1], ran.expected) is None and ran.expected.size == 33


def test_a_kernel_of_ones_own(file: Path, tmp_path: Path) -> None:
    told = lesson.task(Case.load(file), "host", 300, tmp_path)
    assert (told["kernel"], told["rtol"], told["binding"]) == ("add_one", Case.rtol, None)
    ran = run(told)
    size, x = ran.inputs
    assert size == 300
    np.testing.assert_array_equal(ran.arguments[-1], x + np.float32(1))
    assert checking.verdict(ran.function, "host", ran.inputs, ran.expected, told["rtol"]) is None


def test_names_of_outputs_are_free(tmp_path: Path) -> None:
    """`file` is an argument of numpy.savez."""
    (tmp_path / "copy.cu").write_text(ADD.replace("*y", "*file").replace("y[i]", "file[i]"))
    ran = run(lesson.task(Case.load(tmp_path / "copy.cu"), "host", 33, tmp_path))
    np.testing.assert_array_equal(ran.expected["file"], ran.inputs[1] + np.float32(1))


def test_the_binding_is_a_folder_wherever_the_process_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told = lesson.task(lesson.find("01"), "pybind11", 5, tmp_path, binding=Path("built"))
    assert told["binding"] == str(tmp_path / "built")


def test_a_way_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(LessonError, match="01_doublify has no way abacus: no such cell"):
        lesson.task(lesson.find("01"), "abacus", 5, tmp_path)
