"""What a user names, a lesson or a kernel with a case; the ways of a lesson, found in its cells and run."""

from pathlib import Path
from typing import Any

import pytest

from fourways import lesson, toolchain
from fourways.kernels import InputError, NotThereError
from fourways.lesson.notebook import LessonError
from fourways.ways import WAYS, Ways

LESSON = Path(__file__).with_name("ways.md").read_text(encoding="utf-8")


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


def test_only_the_ways_that_are_asked_for(found: lesson.Lesson) -> None:
    ways = Ways("k", function, function, dict.fromkeys(("nvrtc", "nvcc", "host"), function), {"nvcc": "no nvcc"})
    assert list(ways.runnable) == ["nvrtc", "host"]
    chosen = ways.only(["host", "nvcc"])
    assert (list(chosen.functions), list(chosen.runnable)) == (["nvcc", "host"], ["host"])
    assert list(ways.functions) == ["nvrtc", "nvcc", "host"], "the ways asked stay as they are"
    with pytest.raises(LessonError, match="05_triple has no way pycuda: no such cell"):
        lesson.load(found, ["host", "pycuda"])


@pytest.mark.parametrize("name", ["1", "doublify", "01_doublify"])
def test_a_lesson_by_number_kernel_or_slug(name: str) -> None:
    target = lesson.target(name)
    assert (target.name, target.case, list(target.ways(["host"]).functions)) == ("01_doublify", None, ["host"])
    assert target.program("nvrtc", 16) == lesson.program(lesson.find("01"), "nvrtc", 16)


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


@pytest.mark.parametrize("target", lesson.all_lessons(), ids=lambda each: each.number)
def test_each_way_on_the_gpu_is_a_program_to_profile(target: lesson.Lesson) -> None:
    for way in WAYS:
        if cells := target.cells(f"way-{way}"):
            program = lesson.program(target, way, 16)
            compile(program, "program", "exec")
            assert all(line in program for line in "\n".join(cells).split("\n"))


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        (["nothing"], NotThereError, "no lesson 'nothing'; there are: 00_two_workflows"),
        (["none.cu"], NotThereError, "no file none.cu"),
        (["1", Path("case.py")], InputError, "1: a case goes with a .cu or .cuh file"),
    ],
)
def test_another_name_is_refused_with_what_to_do(names: list[Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        lesson.target(*names)
