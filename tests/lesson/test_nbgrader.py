"""nbgrader by the commands on the page "Teach a class": three learners hand in lesson 01, and get their marks."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import layouts
import pytest

from fourways import lesson

OPEN = "# YOUR CODE HERE\nraise NotImplementedError()"
"""What nbgrader leaves of a solution."""
NO_NBGRADER = 77


def run(commands: str, folder: Path, home: Path) -> None:
    """Run commands of the page in a folder, as a user with this home; skip the test if pip has no nbgrader."""
    # without a GPU, so that no hand-in measures
    variables = os.environ | {"HOME": str(home), "CUDA_VISIBLE_DEVICES": ""}
    commands = commands.replace("pip install nbgrader", f"pip install nbgrader || exit {NO_NBGRADER}")
    done = subprocess.run(["bash", "-ec", commands], cwd=folder, env=variables, capture_output=True, text=True)
    if done.returncode == NO_NBGRADER:
        pytest.skip(f"pip cannot install nbgrader: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stdout + done.stderr


def write_answers(course: Path, answers: list[str], file: Path) -> None:
    """Write the released notebook with these answers to its exercises to a file below the course's folder."""
    notebook = json.loads((course / "release" / "01" / "01_doublify.ipynb").read_text("utf-8"))
    cells = [cell for cell in notebook["cells"] if "exercise" in cell["metadata"].get("tags", ())]
    for cell, answer in zip(cells, answers, strict=True):
        before, after = "".join(cell["source"]).split(OPEN)
        cell["source"] = before + answer + after
    (course / file).parent.mkdir(parents=True)
    (course / file).write_text(json.dumps(notebook), "utf-8")


@pytest.mark.long
def test_each_right_answer_gets_its_point(root: Path, tmp_path: Path) -> None:
    page = (root / "book" / "teach_a_class.md").read_text("utf-8")
    once, hand_out, grade = re.findall(r"^```sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    tools = tmp_path / "four-ways" / ".venv" / "bin"  # the clone's, wherever its Python is
    layouts.script(tools / "python", f'exec "{sys.executable}" "$@"')
    layouts.script(tools / "fourways", f'exec "{sys.executable}" -m fourways "$@"')
    course, activate = tmp_path / "course", ". grader/bin/activate\n"
    run(once, tmp_path, tmp_path)
    config = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    (course / "nbgrader_config.py").write_text("".join(config), "utf-8")
    run(activate + hand_out, course, tmp_path)

    solutions = [exercise.solution for exercise in lesson.exercises(lesson.find("1"))]
    by_numpy = "def reverse(x, y):\n    y[:] = x[::-1]"
    for answers, place in (
        (solutions, "submitted/ada/01/01_doublify.ipynb"),
        ([OPEN] * len(solutions), "submitted/bob/01/01_doublify.ipynb"),
        ([by_numpy, *solutions[1:]], "downloaded/01/archive/eve_01_doublify.ipynb"),
    ):
        write_answers(course, answers, Path(place))
    run(f"{activate}nbgrader zip_collect 01\n{grade}", course, tmp_path)
    with (course / "grades.csv").open(newline="") as file:
        marks = {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in csv.DictReader(file)}
    points = len(solutions)
    assert marks == {"ada": (points, points), "bob": (0, points), "eve": (points - 1, points)}
    assert (course / "feedback" / "ada" / "01" / "01_doublify.html").is_file(), "as the page says"
