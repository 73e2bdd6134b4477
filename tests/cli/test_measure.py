"""`fourways check` and `fourways time`, on the CPU."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import NO_GPU, fourways, said

from fourways import kernels, lesson, measuring, stages, tables, toolchain, ways
from fourways.case import Case, on_a_gpu

MINE = """extern "C" __global__ void mine(const float *x, float *y, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = RESULT;
}
"""


LESSON = """---
fourways: {kernel: triple, ways: [nvcc, host], without: {pycuda: it is too old}}
---

```{code-cell} python
:tags: [setup]
import numpy as np
make_inputs, reference = (lambda size: (np.arange(size, dtype=np.int32),)), (lambda x: 3 * x)
```

```{code-cell} python
:tags: [way-nvcc]
raise RuntimeError("nvcc was asked to build")
```

```{code-cell} python
:tags: [way-host]
def triple_host(x, y):
    y[:] = 3 * x
```
"""
UNJUDGED = "Checked against the host way: a mistake in the kernel's idea goes unseen; write a reference into a case."


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "mine.cu"
    file.write_text(MINE.replace("RESULT", "x[i] + 1"))
    return file


def test_check() -> None:
    done = fourways("check", "1", "2", "-w", "host")
    assert done.exit_code == 0 and done.stdout.count("right") == 2
    assert "01_doublify" in done.stdout and "02_saxpy" in done.stdout


def test_check_of_a_file_of_your_own(mine: Path, tmp_path: Path) -> None:
    done = fourways("check", mine, "-w", "host")
    assert done.exit_code == 0 and "mine.cu" in done.stdout and "right" in done.stdout
    assert UNJUDGED in " ".join(done.stdout.split())
    (tmp_path / "expected.py").write_text("def one(x):\n    return x + 1\n\n\ndef two(x):\n    return x + 2\n")
    reference = f"{tmp_path}/expected.py:"
    done = fourways("check", mine, "-w", "host", "--entry", "mine", "--reference", f"{reference}one")
    assert done.exit_code == 0 and f"Checked against {reference}one." in done.stdout.replace("\n", "")
    done = fourways("check", mine, "1", "-w", "host", "--reference", f"{reference}two")
    assert done.exit_code == 2, "lesson 01 has a reference of its own"
    done = fourways("check", mine, "-w", "host", "--reference", f"{reference}two")
    assert done.exit_code == 1 and "mine_host, size 1: element 0 is" in done.stderr


@pytest.fixture
def triple(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clone on a machine that could run all ways; its one lesson has a cell that fails when it is executed."""
    (tmp_path / "cpp" / "kernels").mkdir(parents=True)
    (tmp_path / "lessons").mkdir()
    (tmp_path / "lessons" / "05_triple.md").write_text(LESSON)
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    for way in ("nvcc", "pycuda"):
        monkeypatch.setattr(type(ways.WAYS[way]), "needs", ())


@pytest.mark.usefixtures("triple")
@pytest.mark.parametrize("command", ["check", "time"])
def test_no_way_is_built_that_was_not_asked_for(command: str) -> None:
    done = fourways(command, "5", "-w", "host")
    assert done.exit_code == 0 and "host" in done.stdout and "nvcc" not in done.stdout
    done = fourways(command, "5")
    assert done.exit_code == 1 and "nvcc was asked to build" in f"{done.stderr}{done.exception}"


@pytest.mark.usefixtures("triple")
def test_a_way_that_a_lesson_lacks_is_said() -> None:
    done = fourways("check", "5", "-w", "pycuda")
    assert done.exit_code == 1 and "05_triple has no way pycuda: it is too old" in done.stderr


@pytest.mark.parametrize("command", ["check", "time"])
def test_a_kernel_by_its_name(command: str) -> None:
    done = fourways(command, "reduce", "-w", "host", *(["--size", "9"] if command == "time" else []))
    assert done.exit_code == 0 and "03_reduce_and_scan" in done.stdout
    assert "lesson 03 calls it: fourways run 03" in str(fourways(command, "scan", "-w", "host").exception)


def test_a_wrong_way_fails_and_the_others_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    load = lesson.load

    def wrong(found: lesson.Lesson, chosen: list[str]) -> ways.Ways:
        ways = load(found, chosen)
        if found.number == "01":
            ways.functions["host"] = lambda x, y: None
        return ways

    monkeypatch.setattr(lesson, "load", wrong)
    done = fourways("check", "1", "2", "-w", "host")
    assert done.exit_code == 1 and "doublify_host, size" in done.stderr
    assert "02_saxpy" in done.stdout and "right" in done.stdout


def test_what_cannot_be_run_fails_and_the_others_are_checked(mine: Path) -> None:
    mine.write_text(MINE.replace("RESULT", "nobody_defined_this"))
    done = fourways("check", mine, "1", "-w", "host")
    assert done.exit_code == 1 and "could not compile mine.cu" in done.stderr and "nobody_defined_this" in done.stderr
    assert "01_doublify" in done.stdout and "right" in done.stdout


REFUSED = """import numpy as np
make_inputs = lambda size: (np.ones(size, np.float32),)
reference = lambda x: x + 1
"""


def test_a_bad_file_is_a_row_and_the_others_are_judged(mine: Path, tmp_path: Path) -> None:
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
    (tmp_path / "case.py").write_text(REFUSED)
    files, rows = [str(folder / f"{name}.cu") for name in answers], tmp_path / "rows.json"
    done = fourways("check", *files, "--case", tmp_path / "case.py", "--way", "host", "--json", rows)
    assert done.exit_code == 1 and "Traceback" not in done.stderr
    assert all(f"{file}\n" in done.stdout for file in files), "names are not broken"
    content = json.loads(rows.read_text())
    found = {row["file"]: row for row in content["tables"]["check"]}
    assert list(found) == files
    assert [row["way"] for row in found.values()] == [None] * 4 + ["host"] * 2
    said = [
        "refused: case.py: x: an array of float32 came; const double * wants float64",
        "refused: ",
        "refused: ",
        "refused: ",
    ]
    for (file, row), words in zip(found.items(), [*said, "mine_host, size 1: element 0 is", "right"], strict=True):
        assert row["outcome"].startswith(words), file
    done = fourways("check", files[-1], "--case", tmp_path / "case.py", "--way", "host", "--json", rows)
    assert done.exit_code == 0 and [row["outcome"] for row in json.loads(rows.read_text())["tables"]["check"]] == [
        "right"
    ]


def test_a_file_that_is_not_there_ends_the_command_before_any_work(mine: Path, tmp_path: Path) -> None:
    for words in ([mine, tmp_path / "nope.cu"], [mine, "99"], [mine, "--case", tmp_path / "nope.py"]):
        done = fourways("check", *words, "--way", "host", "--json", tmp_path / "rows.json")
        assert isinstance(done.exception, kernels.NotThereError) and not done.stdout
    assert not (tmp_path / "rows.json").exists()


def test_what_was_found_by_a_sanitizer_is_a_row(mine: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.json"
    for index, outcome in {"i": "nothing was found: races", "0": "mine_host, size 1009: A race between blocks"}.items():
        mine.write_text(MINE.replace("y[i]", f"y[{index}]").replace("RESULT", "x[i]"))
        fourways("check", mine, "--sanitize", "thread", "--json", rows)
        (row,) = json.loads(rows.read_text())["tables"]["check"]
        assert row["outcome"].startswith(outcome) and row["way"] == "host" and row["file"] == str(mine)


@NO_GPU
def test_what_runs_on_the_cpu_is_compiled_for_a_gpu(mine: Path, tmp_path: Path) -> None:
    """Too much static shared memory; a text that differs for a GPU; and what is not looked for is said once."""
    rows, plain = tmp_path / "rows.json", MINE.replace("RESULT", "x[i] + 1")
    mine.write_text(plain.replace("{\n", "{\n    __shared__ float all[16384];\n    all[threadIdx.x] = 1;\n", 1))
    mine.write_text(mine.read_text().replace("x[i] + 1", "x[i] + all[threadIdx.x]"))
    done = fourways("check", mine, "--way", "host", "--json", rows)
    said = "compiles for the CPU, but not for sm_90: "
    (row,) = json.loads(rows.read_text())["tables"]["check"]
    assert done.exit_code == 1 and f"mine.cu {said}" in done.stderr and row["outcome"].startswith(said)
    assert "too much shared data" in row["outcome"] and "right" not in done.stdout
    mine.write_text("#ifdef __CUDACC__\n#define ONE 7\n#else\n#define ONE 1\n#endif\n" + plain.replace("+ 1", "+ ONE"))
    done = fourways("check", mine, "1", "--way", "host", "--json", rows)
    row, _ = json.loads(rows.read_text())["tables"]["check"]
    assert done.exit_code == 0 and row["outcome"] == "right" and "asks for __CUDACC__" in row["note"]
    assert row["note"] in done.stderr and "compiled but not run" in row["note"]
    assert done.stdout.count("Not looked for on the CPU: races") == 1
    mine.write_text("// not __CUDACC__\n" + plain)
    assert "asks for" not in fourways("check", mine, "--way", "host").stderr


@NO_GPU
def test_without_a_compiler_for_a_gpu_nothing_is_claimed(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine.write_text("#ifdef __CUDA_ARCH__\n#define ONE 7\n#else\n#define ONE 1\n#endif\n" + mine.read_text())
    target = Case.load(mine)
    monkeypatch.setattr(toolchain, "loaded_library", lambda name: None)
    monkeypatch.setattr(toolchain, "nvcc", lambda: None)
    note, refusal = on_a_gpu(target)
    assert refusal is None and "neither compiled nor run" in str(note)


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
    assert done.exit_code == 0 and "mine.cu" in done.stdout and "1,000" in done.stdout
    assert UNJUDGED in " ".join(done.stdout.split())
    (tmp_path / "expected.py").write_text("def two(x):\n    return x + 2\n")
    done = fourways("time", mine, "-w", "host", "--size", "1000", "--reference", f"{tmp_path}/expected.py:two")
    assert done.exit_code == 1 and "a wrong answer is not timed" in str(done.exception)
    assert "mine_host, size 1:" in str(done.exception)


def test_a_file_is_timed_only_if_it_is_right_at_awkward_sizes(tmp_path: Path) -> None:
    """Of 1,024 elements, a multiple of the block, this kernel's answer is right."""
    file = tmp_path / "mine.cu"
    file.write_text(MINE.replace("i < n", "i < n / 256 * 256").replace("RESULT", "x[i] + 1"))
    (tmp_path / "expected.py").write_text("def one(x):\n    return x + 1\n")
    done = fourways("time", file, "-w", "host", "--size", "1024", "--reference", f"{tmp_path}/expected.py:one")
    assert done.exit_code == 1 and "mine_host, size 1: element 0 is nan" in str(done.exception)


def test_what_was_measured_before_a_failure_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measure, rows = measuring.time_sizes, tmp_path / "rows.json"

    def fails(ways: ways.Ways, sizes: list[int], *more: object) -> Iterator[tables.Table]:
        yield from measure(ways, sizes[:1])
        raise RuntimeError("the machine is on fire")

    monkeypatch.setattr(measuring, "time_sizes", fails)
    done = fourways("time", "1", "-w", "host", "--sizes", "1000,2000", "--json", rows)
    assert done.exit_code == 1 and "on fire" in str(done.exception)
    content = json.loads(rows.read_text())
    assert [row["size"] for row in content["tables"]["timing"]] == [1000]
    assert content["failure"] == "the machine is on fire"


@pytest.mark.parametrize("fails", [False, True])
def test_time_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool) -> None:
    """What was measured is kept, also where another way failed."""
    row = {"way": "host", "clock": "host", "stages": dict.fromkeys(stages.STAGES, 0.5)}
    row |= {"seconds": tables.summary([0.4, 0.5, 0.6]), "own_seconds": tables.summary([0.2, 0.3, 0.4]), "verdict": ""}
    table = measuring.first_result_table([row | {"state": state} for state in ("cold", "warm")])

    def first_results(target: lesson.Lesson, ways: tuple[str, ...], *counts: object) -> tables.Table:
        assert (target.slug, ways) == ("01_doublify", ("host",))
        assert counts[:2] == (measuring.WARM, measuring.COLD_SECONDS), "as many as a recording"
        if fails:
            error = measuring.FirstResultError("nvcc: a fresh process failed")
            error.others = table
            raise error
        return table

    monkeypatch.setattr(measuring, "first_results", first_results)
    done = fourways("time", "1", "--first", "-w", "host", "--json", tmp_path / "rows.json")
    content = json.loads((tmp_path / "rows.json").read_text())
    assert [row["state"] for row in content["tables"]["first_result"]] == ["cold", "warm"]
    assert content.get("failure") == ("nvcc: a fresh process failed" if fails else None)
    assert done.exit_code == fails
    assert fails or "medians of 3 cold and 3 warm fresh processes" in " ".join(done.stdout.split())
    assert fails or content["tables"]["timing"][0]["way"] == "host", "launches, for fourways choose"


@pytest.mark.parametrize(
    "words, told",
    [
        (("1", "--entry", "k"), "--entry: it is for a file of your own"),
        (("1", "--reference", "a.py:f"), "--reference: it is for a file of your own"),
        (("1", "--first", "--sizes", "9"), "--sizes: a first result is timed at one size"),
        (
            ("MINE", "MINE", "--first"),
            "KERNELS: only files of your own can be timed side by side, and not with --first",
        ),
        (("MINE", "1"), "KERNELS: only files of your own can be timed side by side"),
    ],
)
def test_options_that_do_not_go_together(mine: Path, words: tuple[str, ...], told: str) -> None:
    done = fourways("time", *(mine if word == "MINE" else word for word in words))
    assert done.exit_code == 2 and told in said(done)


def test_nothing_timed_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        measuring, "time_sizes", lambda *_: iter([tables.Table("timing", [], [], "too large: no room")])
    )
    kept = ("--json", tmp_path / "a.json", "--figure", tmp_path / "a.svg")
    done = fourways("time", "1", "-w", "host", "--sizes", "2^40", *kept)
    assert done.exit_code == 1 and "nothing was timed: too large: no room" in str(done.exception)
    assert list(tmp_path.iterdir()) == []


def test_doubtful_figures_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "warnings", lambda rows: [f"{rows[0]['way']}: is the machine busy?"])
    assert "Doubtful: host: is the machine busy?" in fourways("time", "1", "-w", "host", "--size", "9").stderr
