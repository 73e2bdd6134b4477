"""The programs of the page "When a kernel fails", without a GPU: fake launches that fail late, and the judge."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fourways import lesson, process
from fourways.experiments import failures

FAKE = """
faults = []
def doublify(x, y):
    if x == "nowhere":
        faults.append("CUDA_ERROR_ILLEGAL_ADDRESS")
def wait():
    if faults:
        raise RuntimeError(faults[0] + ": an illegal memory access was encountered\\nsecond line")
"""


def executed(program: str, setup: str = FAKE) -> process.Ended:
    return process.run(
        Path(failures.__file__), {"setup": setup, "program": program}, failures.toolchain.child_environment()
    )


@pytest.fixture
def faked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "_setup", lambda way: FAKE)


@pytest.mark.usefixtures("faked")
def test_each_statement_is_run_and_says_what_it_raised() -> None:
    rows = failures.run("import time\ndoublify('nowhere', 1)  # the bug\nx = 1\nwait()\nx = 1 / 0\nwait()").rows
    late = "RuntimeError: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"
    assert [row["line"] for row in rows] == ["doublify('nowhere', 1)", "wait()", "x = 1 / 0", "wait()"]
    assert [row["raised"] for row in rows] == ["", late, "ZeroDivisionError: division by zero", late]


@pytest.mark.usefixtures("faked")
def test_a_process_that_dies_says_how_and_keeps_its_rows() -> None:
    kill = "import os, signal\ndoublify(1, 2)\nos.kill(os.getpid(), signal.SIGKILL)"
    assert failures.run(kill).rows == [
        {"line": "doublify(1, 2)", "raised": ""},
        {"line": "(the process ends)", "raised": "SIGKILL"},
    ]


def test_a_program_that_cannot_begin_says_why() -> None:
    assert executed("1", "raise ValueError('no GPU')").words.endswith("ValueError: no GPU")


def test_a_module_s_name_is_left_out_of_an_exception() -> None:
    assert executed("raise json.JSONDecodeError('no', '', 0)", "import json").answer["rows"] == [
        {"line": "raise json.JSONDecodeError('no', '', 0)", "raised": "JSONDecodeError: no: line 1 column 1 (char 0)"}
    ]


def test_the_ways_are_asked_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "missing", lambda way: "no PyCUDA" if way == "pycuda" else None)
    monkeypatch.setattr(failures, "_setup", lambda way: FAKE + f"way = {way!r}")
    rows = failures.by_way("doublify('nowhere', 1)\nif way != 'nvcc': wait()").rows
    assert [row["way"] for row in rows] == ["nvrtc", "nvcc", "pybind11"]
    assert [bool(row["raised"]) for row in rows] == [True, False, True]


def test_what_goes_on_after_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    cupy = "from types import SimpleNamespace as N\ncp = N(cuda=N(Device=lambda: N(synchronize=wait)))\n"
    z = "class Z:\n    def get(self):\n        wait()\n        return N(sum=lambda: 2048)\nx, z = 1, Z()"
    monkeypatch.setattr(failures, "_setup", lambda way: FAKE + cupy + z)
    refused, lost = failures.goes_on({"refused": "int('x')", "lost": "doublify('nowhere', 1)"}).rows
    assert refused["goes_on"] and refused["raised"].startswith("ValueError")
    assert not lost["goes_on"] and lost["raised"].startswith("RuntimeError: CUDA_ERROR")


def test_the_log_is_the_driver_s_without_times_and_repetitions(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "a warning\n" + 2 * "[22:21:32.099][25642][CUDA][E] too many threads\n"
    monkeypatch.setattr(failures, "_setup", lambda way: f"import sys\nsys.stderr.write({said!r})")
    failures.log("1")
    monkeypatch.setattr(failures, "_setup", lambda way: "")
    failures.log("1")
    assert capsys.readouterr().out == "[CUDA][E] too many threads\nThe driver wrote nothing.\n"


def tool(path: Path, text: str) -> Path:
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    return path


def test_a_tool_s_report_is_its_own_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    says = "import sys\nprint('the program')\nprint('========= Invalid read')\nprint('=========     at doublify')\n"
    path = tool(tmp_path / "tool", says + "assert sys.argv[1:3] == ['--tool', 'memcheck']")
    monkeypatch.setattr(failures.toolchain, "program", lambda name: path)
    failures.sanitize("1")
    assert capsys.readouterr().out == "Invalid read\n    at doublify\n"
    tool(path, "print('cannot start')")
    failures.sanitize("1")
    assert capsys.readouterr().out == "compute-sanitizer: no report\ncannot start\n"
    tool(path, "print(*range(20), sep='\\n')")
    failures.sanitize("1")
    assert capsys.readouterr().out.splitlines()[1:] == [str(line) for line in range(8, 20)], "the last twelve lines"
    monkeypatch.setattr(failures.toolchain, "program", lambda name: None)
    failures.sanitize("1")
    assert capsys.readouterr().out.startswith("compute-sanitizer is not on this machine")


def test_a_core_dump_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(failures, "_setup", lambda way: "import os")
    says = (
        "print('Opening')\nprint('CUDA Exception: Warp Illegal Address')\nprint('#0  doublify () at doublify.cuh:16')"
    )
    monkeypatch.setattr(failures.toolchain, "program", lambda name: tool(tmp_path / "cuda-gdb", says))
    failures.post_mortem("open(os.environ['CUDA_COREDUMP_FILE'], 'w').write(2000 * 'x')")
    told = capsys.readouterr().out.splitlines()
    assert told == [
        "The dump has 2 KB.",
        "CUDA Exception: Warp Illegal Address",
        "#0  doublify () at doublify.cuh:16",
    ]
    failures.post_mortem("raise ValueError('no fault')")
    assert capsys.readouterr().out == "The driver wrote no core dump: ValueError: no fault\n"


def test_a_program_that_does_not_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "_PATIENCE", 0.5)
    said = failures._output([sys.executable, "-c", "print(1, flush=True); import time; time.sleep(9)"], {})
    assert said.startswith("1\n") and "did not end" in said


def test_programs_begin_with_lesson_01_s_cells() -> None:
    for way in ("nvrtc", "nvcc", "pycuda", "pybind11"):
        setup = failures._setup(way)
        compile(setup, "setup", "exec")
        assert f"def doublify_{way}(x, y)" in setup and setup.endswith(failures.PRELUDE)


# --- the judge -------------------------------------------------------------------------------------------------------


def right(steps: Sequence[str], raised: int) -> list[int]:
    start = max((number for number in range(raised) if steps[number] == "wait"), default=-1) + 1
    return [number for number in range(start, raised) if steps[number] == "launch"]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda steps, raised: [], "step 0 may be the cause, too"),
        (lambda steps, raised: [raised], "step 2 (wait) cannot be the cause"),
        (lambda steps, raised: right(steps, raised)[-1:], "step 0 may be the cause, too"),
        (lambda steps, raised: [i for i in range(raised) if steps[i] == "launch"], "step 0 (launch) cannot be"),
        (lambda steps, raised: [i for i in range(raised + 1) if steps[i] == "launch"], "step 0 (launch) cannot be"),
        (lambda steps, raised: [*right(steps, raised), 99], "step 99 (none) cannot be"),
        (lambda steps, raised: right(steps, raised)[::-1], "not in rising order"),
        (lambda steps, raised: 0, "wanted is a list"),
        (lambda steps, raised: ["launch"], "wanted is a list"),
        (lambda steps, raised: list(range(len(steps))), "step 1 (host) cannot be"),
        (lambda steps, raised: steps.clear() or [0], "step"),
    ],
)
def test_wrong_suspects(answer: Any, told: str) -> None:
    said = failures.check_suspects(answer)
    assert said.startswith("Not yet: ") and told in said, said


def test_right_suspects() -> None:
    assert failures.check_suspects(right).startswith("Right for ")
    assert failures.check_suspects(lambda steps, raised: tuple(right(steps, raised))).startswith("Right")


@pytest.mark.parametrize("page", ["when_a_kernel_fails", "textures"])
def test_the_exercises_of_the_pages_are_judged(page: str) -> None:
    """An untouched exercise and every wrong answer are told "Not yet: ", each in other words; the solution is right."""
    notebook, told = lesson.find(page).whole, set[str]()
    kinds = [(set(lesson.tags(cell)) & {"exercise", "wrong", "solution"}, cell.source) for cell in notebook.cells]
    answers = [(kind.pop(), source) for kind, source in kinds if kind]
    assert [kind for kind, _ in answers] == ["exercise", "wrong", "wrong", "wrong", "wrong", "solution"]
    program = "import json, io, contextlib\nimport numpy as np\nfrom fourways.experiments import failures, textures\n"
    program += "for source in json.loads(input()):\n    exec(source)"
    given = json.dumps([source for _, source in answers])
    done = subprocess.run(
        [sys.executable, "-c", program], input=given, capture_output=True, text=True, check=True,
        env=failures.toolchain.child_environment(),
    )  # fmt: skip
    for (kind, source), said in zip(answers, done.stdout.splitlines(), strict=True):
        assert said.startswith("Right" if kind == "solution" else "Not yet: "), source
        told.add(said)
    assert len(told) == len(answers), "words that lead on from this very answer"
