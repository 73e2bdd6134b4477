"""A class on one GPU, with processes that stand in for the learners. `make record` runs the real ones."""

from pathlib import Path

import pytest

from fourways.experiments import classroom

LEARNER = (
    "import sys\nprint('ready', flush=True)\nsys.stdin.readline()\nprint(0.25, flush=True)\nsys.stdin.readline()\n"
)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    free = iter((2**30, 2**30 - 3 * 2**20))
    monkeypatch.setattr("cupy.cuda.runtime.memGetInfo", lambda: (next(free), 2**31))
    monkeypatch.setattr(classroom, "_PROGRAM", tmp_path / "learner.py")
    return tmp_path / "learner.py"


def test_every_learner_has_a_first_result_and_an_edit(program: Path) -> None:
    program.write_text(LEARNER)
    (row,) = classroom.together([3]).rows
    assert row["first_seconds"] > 0
    assert (row["learners"], row["edit_seconds"], row["bytes"]) == (3, 0.25, 2**20)


def test_a_learner_that_fails_is_told(program: Path) -> None:
    program.write_text("raise SystemExit(3)")
    with pytest.raises(RuntimeError, match="a learner's process ended with exit code 3"):
        classroom.together([1])
