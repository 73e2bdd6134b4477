"""Lesson 07's programs, as far as they need no GPU, and the judges of its exercises."""

import ast
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fourways import nsight, toolchain
from fourways.experiments import slow_program
from fourways.experiments.slow_program import profiles, program


def one_by_one(colmeans: Any, x: Any, means: Any) -> list[int]:
    return [0]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (profiles, program):
        monkeypatch.setattr(module, "folder", lambda: tmp_path)
    return tmp_path


def test_a_program_for_the_profiler_holds_the_analysis(folder: Path) -> None:
    path = program.written(one_by_one)
    text = path.read_text()
    ast.parse(text)
    assert path == folder / "analyse.py"
    assert "def one_by_one(colmeans" in text and "print(one_by_one(colmeans, x, means))" in text


def test_without_a_gpu_a_reason_is_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if not toolchain.missing("gpu"):
        pytest.skip("there is a GPU")
    assert slow_program.record(one_by_one, "", 1) == []
    slow_program.profile(one_by_one, 1)
    slow_program.profile_iterate("", 1, 1)
    assert [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()] == [
        "no timeline",
        "nothing to profile",
        "nothing to profile",
    ]
    assert slow_program.drawing([], "") is None and slow_program.sums([]) is None


def test_the_sums_tell_the_gpu_s_work() -> None:
    rows = [
        {"kind": kind, "name": name, "clock": clock, "start_seconds": start, "seconds": 1e-3, "stream": 7}
        for kind, name, clock, start in [
            ("API call", "cuLaunchKernel", "host", 0.0),
            ("kernel", "colmeans", "device", 0.001),
            ("copy", "device to host", "device", 0.004),
        ]
    ]
    table = slow_program.sums(rows)
    assert table is not None and table.note == "Device clock, by CUPTI. The GPU works for 2.00 ms."
    assert [row["name"] for row in table.rows] == ["colmeans", "device to host", "between first and last work"]


def test_a_program_of_one_kernel_is_python(folder: Path) -> None:
    text = 'a """kernel"""\\n'
    ast.parse(profiles._ONE_KERNEL.format(text=text))


NCU = """#!{python}
import pathlib, sys
words = sys.argv
pathlib.Path(words[words.index("--export") + 1]).write_bytes(b"a report")
pathlib.Path({words!r}).write_text("\\n".join(words))
"""


def test_the_command_of_a_profile(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ncu, words = folder / "ncu", folder / "words"
    ncu.write_text(NCU.format(python=sys.executable, words=str(words)))
    ncu.chmod(0o755)
    monkeypatch.setattr(nsight, "require_ncu", lambda: ncu)
    slow_program.profile(one_by_one, 512)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "ncu … python analyse.py 512 'COLUMNS=1 ROOM=12288' ROOM=12288 ''"
    assert said[1] == "colmeans.ncu-rep: 0.0 MB"
    run = words.read_text().split("\n")
    assert run[-5:] == [str(folder / "analyse.py"), "512", "COLUMNS=1 ROOM=12288", "ROOM=12288", ""]
    assert "regex:^colmeans$" in run and "dram__bytes_read.sum" in ",".join(run)


def test_the_recorded_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = slow_program.report()
    for launch in (1, 2, 3):
        table, lines = slow_program.metrics(report, launch, ("dram", "sectors")), slow_program.lines(report, launch, 2)
        assert table is not None and lines is not None
        assert [row["metric"] for row in table.rows] == ["dram", "sectors"] and len(lines.rows) == 2
    assert slow_program.metrics(report, 4, ("dram",)) is None and slow_program.lines(report, 4) is None
    assert slow_program.roofline(report) is not None
    slow_program.dram(report)
    assert capsys.readouterr().out.count("2.15 GB") == 2


def test_a_report_that_is_missing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = slow_program.report("nobody")
    assert report == nsight.Report([], []) and slow_program.roofline(report) is None
    slow_program.dram(report)
    assert capsys.readouterr().out.startswith("no file ")


def test_a_form_that_writes_nothing_is_not_right(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = iter((lambda x, means: np.copyto(means, x.mean(axis=1)), lambda x, means: None))
    monkeypatch.setattr(program, "build", lambda macros: next(kernels))
    x, means = np.ones((2, 3, 4), np.float32), np.empty((2, 4), np.float32)
    with pytest.raises(AssertionError, match="second: a wrong answer"):
        slow_program.forms({"first": "", "second": ""}, x, means)


def test_loads_in_a_row() -> None:
    assert [slow_program.loads_in_a_row(f"ROOM=12288 AHEAD={ahead}") for ahead in (4, 16)] == [4, 8]


def by_sectors(addresses: list[int]) -> int:
    return len({address // 32 for address in addresses})


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda a: None, "not a whole number"),
        (lambda a: len(a) / 8, "not a whole number"),
        (lambda a: True, "not a whole number"),
        (lambda a: 4, "a column"),
        (lambda a: 32, "begins with a sector: 32"),
        (lambda a: len(set(a)), "begins with a sector: 32"),
        (lambda a: (max(a) - min(a)) // 32 + 1, "a column"),
        (lambda a: len({(each - a[0]) // 32 for each in a}), "inside a sector: 4"),
        (lambda a: 1 + sum(one // 32 != two // 32 for one, two in itertools.pairwise(a)), "random"),
    ],
)
def test_wrong_counts_of_sectors(answer: Callable[[list[int]], Any], told: str) -> None:
    said = slow_program.check_sectors(answer)
    assert said.startswith("Not yet: ") and told in said, said


def test_right_counts_of_sectors() -> None:
    assert slow_program.check_sectors(by_sectors).startswith("Right")
    assert slow_program.check_sectors(lambda a: np.unique(np.array(a) // 32).size)


def fitting(threads: int, registers: int, shared_bytes: int) -> int:
    return min(32, 2048 // threads, 65_536 // (threads * registers), 228 * 1024 // (shared_bytes + 1024))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda t, r, s: None, "not a whole number"),
        (lambda t, r, s: 2048 / t, "not a whole number"),
        (lambda t, r, s: 16, "shared memory"),
        (lambda t, r, s: 1, "more than 1 blocks fit"),
        (lambda t, r, s: 2048 // t, "the shared memory is too small"),
        (lambda t, r, s: min(2048 // t, 228 * 1024 // (s + 1024)), "too many blocks"),
        (lambda t, r, s: min(32, 2048 // t, 228 * 1024 // (s + 1024)), "too many registers"),
        (lambda t, r, s: min(32, 65_536 // (t * r), 228 * 1024 // (s + 1024)), "too many threads"),
        (lambda t, r, s: min(32, 2048 // t, 65_536 // (t * r), 228 * 1024 // max(1, s)), "memory is too small"),
        (lambda t, r, s: min(fitting(t, r, s), 16), "fit"),
        (lambda t, r, s: max(1, fitting(t, r, s)), "too many registers"),
    ],
)
def test_wrong_numbers_of_blocks(answer: Callable[[int, int, int], Any], told: str) -> None:
    said = slow_program.check_blocks(answer)
    assert said.startswith("Not yet: ") and told in said, said


def test_right_numbers_of_blocks() -> None:
    assert slow_program.check_blocks(fitting).startswith("Right")
