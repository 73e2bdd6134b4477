"""Handed-in answers to lesson 01's first exercise: right, wrong, empty and dishonest."""

import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from fourways import grading, lesson
from fourways.grading.grade import _used

RIGHT = '''
text = r"""
extern "C" __global__ void reverse(const float *x, float *y, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[n - 1 - i];
}
"""
from fourways import host
kernel = host.compile(text).get_function("reverse")

def reverse(x, y):
    kernel((max(1, (x.size + 255) // 256),), (256,), (x, y, np.int64(x.size)))
'''
WRONG = {
    "off by one": (RIGHT.replace("n - 1 - i", "n - i > n - 1 ? n - 1 : n - i"), "expected"),
    "NumPy": ("def reverse(x, y):\n    y[:] = x[::-1]\n", "0 kernels were launched"),
    "another check": (
        "checking.exercise = lambda *a, **k: True\ndef reverse(x, y):\n    y[:] = x[::-1]\n",
        "replaced exercise",
    ),
    "another check, at the call": (
        "def reverse(x, y):\n    import fourways.checking.at_sizes as at\n    at.verdict = lambda *a: None\n",
        "replaced verdict",
    ),
    "another question": ("make_inputs = lambda n: (np.zeros(n, 'f4'),)\ndef reverse(x, y):\n    y[:] = 0\n", "Not yet"),
    "a printed verdict": (
        'import os\nprint(\'{"is_right": true, "message": "Right"}\', flush=True)\nos._exit(0)\n',
        "ended its process",
    ),
    "a crash": ("import ctypes\nctypes.string_at(0)\n", "SIGSEGV"),
    "a loop": ("while True: pass\n", "took more than 20 s"),
    "memory": ("hoard = np.ones(2**28)\nimport time\ntime.sleep(60)\n", "of memory"),
    "a typing error": ("def reverse(x, y:\n", "SyntaxError in line 1"),
    "an exception": ("1 / 0\n", "ZeroDivisionError"),
    "an exit": ("raise SystemExit\n", "SystemExit"),
}


LIST = """
import contextlib, os
for file in range(3, 99):
    with contextlib.suppress(OSError):
        os.write(file, b"[]")
os._exit(0)
"""


def handed_in(folder: Path, answers: dict[str, str]) -> list[Path]:
    """Notebooks of lesson 01, exported as for a class, with an answer each."""
    folder.mkdir(exist_ok=True)
    (exported,) = lesson.export([lesson.find("01")], folder / "class")
    for name, answer in answers.items():
        notebook = json.loads(exported.read_text("utf-8"))
        for cell in notebook["cells"]:
            if cell["id"] == "01_doublify-exercise-1" and answer:
                cell["source"] = answer
        (folder / f"{name}.ipynb").write_text(json.dumps(notebook), "utf-8")
    return [folder / f"{name}.ipynb" for name in answers]


def first(rows: list[dict]) -> dict[str, dict]:
    return {Path(row["file"]).stem: row for row in rows if row["exercise"] in ("01.1", "")}


@pytest.mark.long
def test_verdicts(tmp_path: Path) -> None:
    files = handed_in(tmp_path, {"right": RIGHT, "empty": ""} | {name: text for name, (text, _) in WRONG.items()})
    limits = grading.Limits(seconds=20, memory=3 * 2**29)
    rows = first(grading.grade(files, limits=limits).rows)
    assert rows["right"]["verdict"] == "right", rows["right"]["message"]
    assert rows["empty"]["verdict"] == "no answer"
    for name, (_, message) in WRONG.items():
        assert rows[name]["verdict"] == "not yet", name
        assert message in rows[name]["message"], name


@pytest.mark.parametrize(
    "seconds, cpu_seconds, problem",
    [(19, 60, ""), (60, 19, ""), (21, 21, "does a loop never end"), (99, 0, ""), (101, 0, "wait for something")],
)
def test_a_busy_machine_ends_no_answer(seconds: float, cpu_seconds: float, problem: str) -> None:
    told = grading.Limits(seconds=20).exceeded(seconds, cpu_seconds, 0)
    assert problem in told and bool(problem) == bool(told)


def test_cpu_time_and_memory_of_a_family() -> None:
    """Of a process and its child, while both live, and after the child has ended."""
    spin = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True)\ninput()\n"
    parent = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {spin!r}])\n{spin}"
    with subprocess.Popen([sys.executable, "-c", parent], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout
        process.stdout.readline()
        seconds, memory = _used(process.pid)
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.readline()
        both, less = _used(process.pid)
        process.stdin.write(b"\n")
    assert 0.4 <= seconds < 0.8 <= both < 2  # CPU time is counted in ticks
    assert 2**20 < less < memory < 2**30


def test_what_an_exercise_gives_is_given_again_and_a_printed_right_is_no_verdict(tmp_path: Path) -> None:
    numpy = "def reverse(x, y):\n    print('Right at all sizes.')\n    y[:] = x[::-1]\n"
    answers = {"alice": "asked.update(launches=None)\n" + numpy, "bob": "asked['reference'] = lambda x: x\n" + numpy}
    files = []
    for name, answer in answers.items():  # all learners' files have one name
        (file,) = handed_in(tmp_path / name, {"01_doublify": answer})
        files.append(file)
    rows = [row for row in grading.grade(files).rows if row["exercise"] == "01.1"]
    assert [(row["file"], row["verdict"]) for row in rows] == [
        ("alice/01_doublify.ipynb", "not yet"),
        ("bob/01_doublify.ipynb", "not yet"),
    ]
    assert all(row["message"].startswith("Not yet") for row in rows), rows


@pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed")
def test_walls(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    with socket.create_server(("127.0.0.1", 0)) as server:
        calls = f"import socket\nsocket.create_connection({server.getsockname()!r}).close()\n"
        socket.create_connection(server.getsockname()).close()  # from here it can be reached
        answers = {"writes": f"open({str(outside)!r}, 'w').close()\n" + RIGHT, "calls": calls + RIGHT}
        rows = first(grading.grade(handed_in(tmp_path, answers)).rows)
    assert "Read-only file system" in rows["writes"]["message"] and not outside.exists()
    assert "ConnectionRefusedError" in rows["calls"]["message"]


def test_added_and_moved_cells(tmp_path: Path) -> None:
    file, empty = handed_in(tmp_path, {"moved": "", "empty": ""})
    notebook = json.loads(file.read_text("utf-8"))
    place = next(i for i, cell in enumerate(notebook["cells"]) if cell["id"] == "01_doublify-exercise-1")
    moved = notebook["cells"].pop(place)
    added = {"cell_type": "code", "id": "5c1f", "metadata": {}, "outputs": [], "execution_count": None, "source": RIGHT}
    rest = notebook["cells"]
    notebook["cells"] = [moved, added, *rest]
    file.write_text(json.dumps(notebook), "utf-8")
    other = {**added, "id": "01_doublify-7", "source": "1 / 0"}  # the lesson's own, so no part of the answer
    helper = {**added, "source": RIGHT.replace("def reverse", "def turn")}
    notebook["cells"] = [other, helper, {**moved, "source": "reverse = turn"}, *rest]
    (before := tmp_path / "before.ipynb").write_text(json.dumps(notebook), "utf-8")
    grades = grading.grade([file, before, empty])
    assert [first(grades.rows)[name]["verdict"] for name in ("moved", "before")] == ["right"] * 2
    assert grades.note.startswith("Right: 2 of 2 answers. "), "the three empty exercises are no answers"


def test_an_answer_that_nobody_can_read_does_not_end_the_grading(tmp_path: Path) -> None:
    answers = {
        "a NUL": ("x = '\0'\n", "null bytes"),
        "no UTF-8": ("import os\nos.write(2, b'\\xff')\nos._exit(1)\n", "ended its process: \ufffd"),
        "a deep expression": ("-" * 100_000 + "1\n", "raised"),
        "half a letter": ("x = '\ud800'\n", "raised"),
        "a verdict that is none": (LIST, "ended its process"),
    }
    rows = first(grading.grade(handed_in(tmp_path, {name: text for name, (text, _) in answers.items()})).rows)
    for name, (_, message) in answers.items():
        assert rows[name]["verdict"] == "not yet" and message in rows[name]["message"], rows[name]
    assert "IPython" not in rows["a NUL"]["message"] and "None" not in rows["a NUL"]["message"]


def test_a_file_that_is_no_notebook_of_a_lesson(tmp_path: Path) -> None:
    (tmp_path / "notes.ipynb").write_text("{}", "utf-8")
    (tmp_path / "other.ipynb").write_text('{"cells": []}', "utf-8")
    broken = {"cell_type": "code", "id": "01_doublify-exercise-1", "source": 1}
    (tmp_path / "broken.ipynb").write_text(json.dumps({"cells": [broken]}), "utf-8")
    rows = first(grading.grade(grading.handed_in([tmp_path])).rows)
    assert {name: row["verdict"] for name, row in rows.items()} == dict.fromkeys(
        ("notes", "other", "broken"), "not judged"
    )
    assert "fourways export" in rows["other"]["message"]


def test_kernel_files(tmp_path: Path) -> None:
    (tmp_path / "case.py").write_text(
        "import numpy as np\n\ndef make_inputs(size):\n    return (np.arange(size, dtype=np.float32),)\n\n"
        "def reference(x):\n    return 3 * x\n",
        "utf-8",
    )
    text = (
        'extern "C" __global__ void triple(const float *x, float *y, long long n) {{\n'
        "    const long long i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = {} * x[i];\n}}\n"
    )
    (tmp_path / "three.cu").write_text(text.format(3), "utf-8")
    (tmp_path / "two.cu").write_text(text.format(2), "utf-8")
    (tmp_path / "none.cu").write_text("not C++", "utf-8")
    rows = grading.grade(grading.handed_in([tmp_path]), tmp_path / "case.py").rows
    verdicts = {row["exercise"]: row["verdict"] for row in rows}
    assert verdicts["three"] == "right", rows
    assert "right" not in (verdicts["two"], verdicts["none"]), rows


def test_a_case_that_ends_the_process_is_told_and_judges_nobody(tmp_path: Path) -> None:
    (tmp_path / "case.py").write_text("import os\nos.write(2, b'no licence')\nos._exit(3)\n", "utf-8")
    (tmp_path / "a.cu").write_text('extern "C" __global__ void a(float *y) { *y = 1; }', "utf-8")
    (row,) = grading.grade([tmp_path / "a.cu"], tmp_path / "case.py").rows
    assert (row["verdict"], row["message"]) == ("not judged", "no licence")


def test_kernels_need_a_case(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("", "utf-8")
    with pytest.raises(ValueError, match="--case"):
        grading.grade([tmp_path / "a.cu"])


def every_exercise() -> list[lesson.Exercise]:
    return [each for found in lesson.lessons_and_pages() for each in lesson.exercises(found)]


@pytest.mark.long
@pytest.mark.parametrize("exercise", every_exercise(), ids=lambda each: f"{each.lesson.number}.{each.number}")
def test_every_solution_is_right_and_every_stub_is_not(exercise: lesson.Exercise, tmp_path: Path) -> None:
    (exported,) = lesson.export([exercise.lesson], tmp_path / "class")
    cells = exercise.lesson.notebook.cells
    solution = next(cell.source for cell in cells[exercise.cell :] if "solution" in lesson.tags(cell))
    for name, answer in (("solution", solution), ("stub", exercise.stub + "\n# changed\n")):
        notebook = json.loads(exported.read_text("utf-8"))
        for cell in notebook["cells"]:
            if cell["id"] == f"{exercise.lesson.slug}-exercise-{exercise.number}":
                cell["source"] = answer
        (tmp_path / f"{name}.ipynb").write_text(json.dumps(notebook), "utf-8")
    rows = grading.grade([tmp_path / "solution.ipynb", tmp_path / "stub.ipynb"]).rows
    verdict = {row["file"]: row for row in rows if row["exercise"] == f"{exercise.lesson.number}.{exercise.number}"}
    if verdict["solution.ipynb"]["verdict"] == "not judged":
        pytest.skip(verdict["solution.ipynb"]["message"])
    assert verdict["solution.ipynb"]["verdict"] == "right", verdict["solution.ipynb"]["message"]
    assert verdict["stub.ipynb"]["verdict"] == "not yet", verdict["stub.ipynb"]["message"]


def test_an_answer_that_prints_right_where_the_judge_prints_its_verdict(tmp_path: Path) -> None:
    (file,) = lesson.export([lesson.find("several_gpus")], tmp_path)
    notebook = json.loads(file.read_text("utf-8"))
    for cell in notebook["cells"]:
        if cell["id"] == "several_gpus-exercise-1":
            cell["source"] = "def exchange(strips):\n    print('Right')\n"
    file.write_text(json.dumps(notebook), "utf-8")
    (row,) = grading.grade([file]).rows
    assert row["verdict"] == "not yet" and row["message"].startswith("Not yet"), row
