"""`fourways check` and `fourways time`, on the CPU."""

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import NO_GPU, fourways

from fourways import checking, kernels, lesson, measuring, own_kernel, tables, ways
from fourways.cli import measure

MINE = Path(__file__).with_name("mine.cu").read_text(encoding="utf-8")


CASE = """import numpy as np
arguments = lambda size: {"x": np.ones(size, np.float32), "y": None, "n": np.int64(size)}
reference = lambda x: {"y": x + 1}
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "mine.cu"
    file.write_text(MINE.replace("RESULT", "x[i] + 1"))
    return file


@pytest.fixture
def case(tmp_path: Path) -> Path:
    file = tmp_path / "case.py"
    file.write_text(CASE)
    return file


def test_check() -> None:
    done = fourways("check", "1", "2", "-w", "host")
    assert done.exit_code == 0 and done.stdout.count("right") == 2
    assert "01_doublify" in done.stdout and "02_saxpy" in done.stdout


def test_check_of_a_file_of_your_own(mine: Path, case: Path) -> None:
    done = fourways("check", mine, "--case", case, "-w", "host")
    assert done.exit_code == 0 and "mine.cu" in done.stdout and "right" in done.stdout
    case.write_text(CASE.replace("x + 1", "x + 2"))
    done = fourways("check", mine, "--case", case, "-w", "host")
    assert done.exit_code == 1 and "mine_host, size 1: element 0 is" in done.stderr
    mine.write_text(mine.read_text().replace("void mine", "void right_shift"))
    done = fourways("check", mine, "--case", case, "-w", "host")
    assert done.exit_code == 1 and "right_shift_host, size 1: element 0 is" in done.stderr
    done = fourways("check", mine, "-w", "host")
    assert done.exit_code == 1 and "mine.cu: a kernel of your own needs a --case" in done.stderr
    done = fourways("check", mine, "--case", case, "-w", "pybind11")
    assert done.exit_code == 1


def test_the_case_that_the_help_shows_is_a_case(tmp_path: Path) -> None:
    """As it stands there, for a kernel of the signature that stands there."""
    text = inspect.cleandoc(str(measure.check.__doc__))
    signature = re.search(r"`(amplify\(.*?\))`", text)
    assert signature
    body = "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = gain * x[i]; }"
    (tmp_path / "amplify.cu").write_text(f'extern "C" __global__ void {signature[1]} {body}')
    (tmp_path / "case.py").write_text(text.partition("```python\n")[2].partition("```")[0])
    ways = own_kernel.read(tmp_path / "amplify.cu", tmp_path / "case.py").ways(["host"])
    assert next(iter(checking.check(ways).rows))["outcome"] == "right"


def test_a_wrong_way_fails_and_the_others_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    load = lesson.load

    def wrong(found: lesson.Lesson, chosen: list[str]) -> ways.Ways:
        ways = load(found, chosen)
        if found.number == "01":
            ways.functions["host"] = lambda x, y: None
        return ways

    monkeypatch.setattr("fourways.lesson.ways.load", wrong)
    done = fourways("check", "1", "2", "-w", "host")
    assert done.exit_code == 1 and "doublify_host, size" in done.stderr
    assert "02_saxpy" in done.stdout and "right" in done.stdout


def test_what_was_measured_before_a_failure_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measure, rows = measuring.time_sizes, tmp_path / "rows.json"

    def fails(ways: ways.Ways, sizes: list[int], *more: object) -> Iterator[tables.Table]:
        yield from measure(ways, sizes[:1])
        raise RuntimeError("the machine is on fire")

    monkeypatch.setattr(measuring, "time_sizes", fails)
    done = fourways("time", "1", "-w", "host", "--sizes", "1000,2000", "--json", rows)
    assert done.exit_code == 1 and "on fire" in str(done.exception)
    assert [row["size"] for row in json.loads(rows.read_text())["tables"]["timing"]] == [1000]
    monkeypatch.setattr(measuring, "time_sizes", lambda *_: iter([tables.Table("timing", [], [], "no room")]))
    assert "nothing was timed: no room" in str(fourways("time", "1", "-w", "host").exception)


def test_a_bad_file_is_a_row_and_the_others_are_judged(case: Path, tmp_path: Path) -> None:
    """As an instructor judges a class: all in one call, by one case, in the order of the names."""
    answers = {
        "signature": MINE.replace("const float *x", "const double *x").replace("RESULT", "x[i] + 1"),
        "syntax": MINE.replace("RESULT", "x[i] +"),
        "empty": "",
        "latin": "// \xe9\n",
        "wrong": MINE.replace("RESULT", "x[i] + 2"),
        "right": MINE.replace("RESULT", "x[i] + 1"),
    }
    folder = tmp_path / ("wider than a terminal, " * 5)
    folder.mkdir()
    for name, text in answers.items():
        (folder / f"{name}.cu").write_text(text, encoding="latin-1")
    files, rows = [str(folder / f"{name}.cu") for name in answers], tmp_path / "rows.json"
    done = fourways("check", *files, "--case", case, "--way", "host", "--json", rows)
    assert done.exit_code == 1 and "Traceback" not in done.stderr
    assert all(f"{file}\n" in done.stdout for file in files), "names are not broken"
    content = json.loads(rows.read_text())
    found = {row["file"]: row for row in content["tables"]["check"]}
    assert list(found) == files
    assert [row["way"] for row in found.values()] == [None] * 4 + ["host"] * 2
    said = [
        "refused: case.py: x: float32 came; const double * wants float64: write x.astype(np.float64)",
        "refused: ",
        "refused: ",
        "refused: ",
    ]
    for (file, row), words in zip(found.items(), [*said, "mine_host, size 1: element 0 is", "right"], strict=True):
        assert row["outcome"].startswith(words), file
    done = fourways("check", files[-1], "--case", case, "--way", "host", "--json", rows)
    assert done.exit_code == 0 and [row["outcome"] for row in json.loads(rows.read_text())["tables"]["check"]] == [
        "right"
    ]


def test_a_file_that_is_not_there_ends_the_command_before_any_work(mine: Path, tmp_path: Path) -> None:
    for words in ([mine, tmp_path / "nope.cu"], [mine, "99"], [mine, "--case", tmp_path / "nope.py"]):
        done = fourways("check", *words, "--way", "host", "--json", tmp_path / "rows.json")
        assert isinstance(done.exception, kernels.NotThereError) and not done.stdout
    assert not (tmp_path / "rows.json").exists()


def test_what_was_found_by_a_sanitizer_is_a_row(mine: Path, case: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.json"
    for index, outcome in {"i": "nothing was found: races", "0": "mine_host, size 1009: A race between blocks"}.items():
        mine.write_text(MINE.replace("y[i]", f"y[{index}]").replace("RESULT", "x[i] + 1"))
        fourways("check", mine, "--case", case, "--sanitize", "thread", "--json", rows)
        (row,) = json.loads(rows.read_text())["tables"]["check"]
        assert row["outcome"].startswith(outcome) and row["way"] == "host" and row["file"] == str(mine)


@NO_GPU
def test_what_runs_on_the_cpu_is_compiled_for_a_gpu(mine: Path, case: Path, tmp_path: Path) -> None:
    """A file that no compiler takes for a GPU is wrong; one that nvcc alone takes is right, and the line says so."""
    rows, plain = tmp_path / "rows.json", mine.read_text()
    assert "NVRTC and nvcc compile it for sm_" in fourways("check", mine, "--case", case).stdout
    mine.write_text("#include <stdint.h>\n" + plain)
    done = fourways("check", mine, "--case", case)
    assert done.exit_code == 0 and "NVRTC does not: mine.cu(1)" in " ".join(done.stdout.split())
    mine.write_text(plain.replace("{\n", "{\n    __shared__ float all[16384];\n    all[threadIdx.x] = 1;\n", 1))
    mine.write_text(mine.read_text().replace("x[i] + 1", "x[i] + all[threadIdx.x]"))
    done = fourways("check", mine, "--case", case, "--json", rows)
    row = json.loads(rows.read_text())["tables"]["check"][0]
    assert done.exit_code == 1 and row["outcome"].startswith("No compiler compiles it for sm_90")
    assert "too much shared data" in row["outcome"]
    assert done.stdout.count("Not looked for on the CPU: races") == 0


def test_time_writes_rows(tmp_path: Path) -> None:
    rows = tmp_path / "rows.json"
    done = fourways("time", "1", "-w", "host", "--sizes", "1000,2000", "--json", rows)
    assert done.exit_code == 0 and "01_doublify" in done.stdout and "2,000" in done.stdout
    content = json.loads(rows.read_text())
    host = [row for row in content["tables"]["timing"] if row["way"] == "host"]
    assert [(row["size"], row["kernel"]) for row in host] == [(1000, "doublify"), (2000, "doublify")]
    assert content["stamp"]["python"]


def test_a_file_is_timed_only_if_it_is_right_at_awkward_sizes(mine: Path, case: Path) -> None:
    """Of 1,024 elements, a multiple of the block, this kernel's answer is right."""
    words = ("--case", case, "-w", "host", "--size", "1024")
    done = fourways("time", mine, *words)
    assert done.exit_code == 0 and "mine.cu" in done.stdout and "1,024" in done.stdout
    mine.write_text(mine.read_text().replace("i < n", "i < n / 256 * 256"))
    done = fourways("time", mine, *words)
    assert done.exit_code == 1 and "mine_host, size 1: element 0 is nan" in str(done.exception)
    assert "a wrong answer is not timed" in str(done.exception)
