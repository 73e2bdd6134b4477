"""nbgrader by the commands on the page "Teach a class": seven learners hand in lesson 01, and get their marks."""

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


def run(commands: str, folder: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """Run commands of the page in a folder, as a user with this home, to the first that fails."""
    return subprocess.run(
        ["bash", "-ec", commands], cwd=folder, env=os.environ | {"HOME": str(home)}, capture_output=True, text=True
    )


def answered(released: Path, answers: list[str]) -> str:
    """Return the released notebook with these answers to its exercises."""
    notebook = json.loads(released.read_text("utf-8"))
    cells = [cell for cell in notebook["cells"] if "exercise" in cell["metadata"].get("tags", ())]
    for cell, answer in zip(cells, answers, strict=True):
        before, after = "".join(cell["source"]).split(OPEN)
        cell["source"] = before + answer + after
    return json.dumps(notebook)


def without_first_code_cell(text: str) -> str:
    notebook = json.loads(text)
    notebook["cells"].remove(next(cell for cell in notebook["cells"] if cell["cell_type"] == "code"))
    return json.dumps(notebook)


@pytest.mark.long
def test_each_right_answer_gets_its_point(root: Path, tmp_path: Path) -> None:
    page = (root / "book" / "teach_a_class.md").read_text("utf-8")
    once, hand_out, grade = re.findall(r"^```sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    tools = tmp_path / "four-ways" / ".venv" / "bin"  # the clone's, wherever its Python is
    layouts.script(tools / "python", f'exec "{sys.executable}" "$@"')
    layouts.script(tools / "fourways", f'exec "{sys.executable}" -m fourways "$@"')
    course, activate = tmp_path / "course", ". grader/bin/activate\n"
    done = run(once.replace("pip install nbgrader", f"pip install nbgrader || exit {NO_NBGRADER}"), tmp_path, tmp_path)
    if done.returncode == NO_NBGRADER:
        pytest.skip(f"pip cannot install nbgrader: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr
    config = "".join(re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE))
    (course / "nbgrader_config.py").write_text(config.replace("timeout = 120", "timeout = 30"), "utf-8")
    done = run(activate + hand_out, course, tmp_path)
    assert done.returncode == 0, done.stderr

    released = course / "release" / "01" / "01_doublify.ipynb"
    solutions = [exercise.solution for exercise in lesson.exercises(lesson.find("1"))]
    right = answered(released, solutions)
    hand_ins = {
        "submitted/ada/01/01_doublify.ipynb": right,
        "submitted/bob/01/01_doublify.ipynb": released.read_text("utf-8"),
        "downloaded/01/archive/eve_01_doublify.ipynb": answered(
            released, ["def reverse(x, y):\n    y[:] = x[::-1]", *solutions[1:]]
        ),
        "submitted/gus/01/01_doublify.ipynb": answered(
            released, ["def reverse(x, y):\n    while True:\n        pass", *solutions[1:]]
        ),
        "submitted/hana/01/01_doublify.ipynb": answered(released, ["def reverse(x, y)", *solutions[1:]]),
        "submitted/ivan/01/01_doublify.ipynb": without_first_code_cell(right),
        "submitted/jo/01/01_doublify.ipynb": right[:-100],
    }
    for place, text in hand_ins.items():
        (course / place).parent.mkdir(parents=True, exist_ok=True)
        (course / place).write_text(text, "utf-8")
    done = run(f"{activate}nbgrader zip_collect 01\n{grade}", course, tmp_path)
    assert done.returncode and "There was an error processing assignment '01' for student 'jo'" in done.stderr
    (course / "submitted" / "jo" / "01" / "01_doublify.ipynb").write_text(right, "utf-8")
    done = run(activate + grade, course, tmp_path)
    assert done.returncode == 0 and "Skipping existing assignment" in done.stderr, done.stderr
    with (course / "grades.csv").open(newline="") as file:
        marks = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert marks == {"ada": 2, "bob": 0, "eve": 1, "gus": 1, "hana": 1, "ivan": 2, "jo": 2}
    assert (course / "feedback" / "ada" / "01" / "01_doublify.html").is_file(), "as the page says"
