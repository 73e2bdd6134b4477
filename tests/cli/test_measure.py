"""`fourways check` and `fourways time`, on the CPU."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fourways import cli, lesson, tables, timing, toolchain

NO_GPU = pytest.mark.skipif(toolchain.missing("gpu") is None, reason="this machine has a GPU")
MINE = """extern "C" __global__ void mine(const float *x, float *y, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = RESULT;
}
"""


def fourways(*words: str | Path) -> Result:
    return CliRunner().invoke(cli.app, [str(word) for word in words])


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "mine.cu"
    file.write_text(MINE.replace("RESULT", "x[i] + 1"))
    return file


def test_check() -> None:
    done = fourways("check", "1", "2", "-w", "host")
    assert done.exit_code == 0 and done.stdout.count("right") == 2
    assert "01_doublify" in done.stdout and "02_saxpy" in done.stdout


def test_a_wrong_way_fails_and_the_others_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    load = lesson.load

    def wrong(found: lesson.Lesson) -> lesson.Ways:
        ways = load(found)
        if found.number == "01":
            ways.functions["host"] = lambda x, y: None
        return ways

    monkeypatch.setattr(lesson, "load", wrong)
    done = fourways("check", "1", "2", "-w", "host")
    assert done.exit_code == 1 and "doublify_host, size" in done.stderr
    assert "02_saxpy" in done.stdout and "right" in done.stdout


@NO_GPU
@pytest.mark.parametrize("command", ["check", "time"])
def test_a_way_that_cannot_run_here_is_refused(command: str) -> None:
    done = fourways(command, "1", "-w", "nvrtc")
    assert done.exit_code == 1 and str(done.exception).startswith("nvrtc: no NVIDIA driver")


def test_time_writes_rows_and_figure(tmp_path: Path) -> None:
    rows, figure = tmp_path / "rows.json", tmp_path / "sizes.svg"
    done = fourways("time", "1", "-w", "host", "--sizes", "1000,2000", "--json", rows, "--figure", figure)
    assert done.exit_code == 0 and "01_doublify" in done.stdout and "2,000" in done.stdout
    content = json.loads(rows.read_text())
    host = [row for row in content["tables"]["timing"] if row["way"] == "host"]
    assert [(row["size"], row["kernel"]) for row in host] == [(1000, "doublify"), (2000, "doublify")]
    assert content["stamp"]["python"] and "doublify: bytes per second" in figure.read_text()


def test_time_of_a_file_of_your_own(mine: Path, tmp_path: Path) -> None:
    done = fourways("time", mine, "-w", "host", "--size", "1000")
    assert done.exit_code == 0 and "mine.cu" in done.stdout and "host" in done.stdout
    (tmp_path / "expected.py").write_text("def two(x):\n    return x + 2\n")
    done = fourways("time", mine, "-w", "host", "--size", "1000", "--reference", f"{tmp_path}/expected.py:two")
    assert done.exit_code == 1 and "a wrong answer is not timed" in str(done.exception)


def test_time_first() -> None:
    done = fourways("time", "1", "--first", "-w", "host")
    assert "the median of 3 cold and of 3 warm fresh processes" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    "words, said",
    [
        (("1", "--entry", "k"), "--entry: it is for a file of your own"),
        (("1", "--reference", "a.py:f"), "--reference: it is for a file of your own"),
        (("1", "--first", "--sizes", "9"), "--sizes: a first result is timed at one size"),
        (("mine.cu", "--first"), "--first: a first result is that of a lesson"),
    ],
)
def test_options_that_do_not_go_together(words: tuple[str, ...], said: str) -> None:
    done = fourways("time", *words)
    assert done.exit_code == 2 and said in " ".join(done.stderr.replace("│", "").split())


def test_nothing_timed_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "time_sizes", lambda *_: tables.Table("timing", [], [], "too large: no room"))
    done = fourways("time", "1", "-w", "host", "--sizes", "2^40", "--figure", tmp_path / "a.svg")
    assert done.exit_code == 1 and "nothing was timed: too large: no room" in str(done.exception)
    assert list(tmp_path.iterdir()) == []


def test_doubtful_figures_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "warnings", lambda rows: [f"{rows[0]['way']}: is the machine busy?"])
    assert "Doubtful: host: is the machine busy?" in fourways("time", "1", "-w", "host", "--size", "9").stderr
