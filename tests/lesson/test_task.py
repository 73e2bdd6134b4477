"""What a fresh process is told: a lesson's own cells, or cells for a kernel of one's own; both run as they are."""

import json
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from fourways import checking, lesson, stages

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


def run(told: stages.Task) -> stages.Ran:
    """Run a task as the process does that gets it: as JSON."""
    return stages.run_way(json.loads(json.dumps(told)), nullcontext)


def test_a_lesson_s_own_cells() -> None:
    told, found = lesson.task("doublify", "host", 33), lesson.find("01")
    assert told["setup"] == "\n".join(found.cells("setup")) and told["cell"] == found.cells("way-host")[0]
    assert (told["kernel"], told["way"], told["size"], told["rtol"]) == ("doublify", "host", 33, 0.0)
    ran = run(told)
    assert checking.compare(ran.arguments[-1], ran.expected) is None and ran.expected.size == 33


def test_a_kernel_of_ones_own(file: Path) -> None:
    told = lesson.task(str(file), "host", 300)
    assert (told["kernel"], told["rtol"], told["binding"]) == ("add_one", lesson.Case.rtol, None)
    ran = run(told)
    size, x = ran.inputs
    assert size == 300
    np.testing.assert_array_equal(ran.arguments[-1], x + np.float32(1))
    assert checking.verdict(ran.function, "host", ran.inputs, ran.expected, told["rtol"]) is None


def test_names_of_outputs_are_free(tmp_path: Path) -> None:
    """`file` is an argument of numpy.savez."""
    (tmp_path / "copy.cu").write_text(ADD.replace("*y", "*file").replace("y[i]", "file[i]"))
    case = lesson.Case(tmp_path / "copy.cu")
    ran = run(lesson.stand_alone(case, "host", 33, tmp_path))
    np.testing.assert_array_equal(ran.expected["file"], ran.inputs[1] + np.float32(1))


def test_the_binding_is_a_folder_wherever_the_process_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert lesson.task("01", "pybind11", binding=Path("built"))["binding"] == str(tmp_path / "built")


def test_what_is_not_there(file: Path) -> None:
    with pytest.raises(lesson.LessonError, match="no lesson '99'"):
        lesson.task("99", "host")
    with pytest.raises(lesson.LessonError, match="01_doublify has no way abacus: no such cell"):
        lesson.task("01", "abacus")
    with pytest.raises(lesson.LessonError, match="no kernel 'other' in it's mine.cu; there are: add_one"):
        lesson.task(lesson.Case(file, "other"), "host")
