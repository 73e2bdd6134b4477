"""Whole programs in fresh processes: their comments are where the clock looks."""

from pathlib import Path

import pytest

from fourways import kernels
from fourways.experiments import staged_programs

PROGRAM = """
'''A program whose stages sleep.'''
# import
import os
import sys
import time

# load
time.sleep(0.05)

# launch
time.sleep(0.01)

# launches
for _ in range(int(sys.argv[1])):
    time.sleep(0.002)

# check
# this comment is none: it has more than a word
assert sys.argv[2:] == ["one", "two"]
"""


def test_stages_and_the_spread_of_the_total() -> None:
    table = staged_programs.run({"sleeper": (PROGRAM, ("one", "two"))}, runs=3, launches=25)
    (row,) = table.rows
    assert list(row["stages"]) == ["start", "import", "load", "launch", "check", "end"]
    assert row["stages"]["load"] >= 0.05 and row["stages"]["launch"] >= 0.01, "they sleep so long"
    assert row["stages"]["start"] > 0
    assert row["seconds"]["median"] == pytest.approx(sum(row["stages"].values())), "without the loop"
    assert row["seconds"]["samples"] == 3 and row["launch_seconds"]["median"] >= 0.002
    assert [heading for heading, _ in table.columns][:4] == ["program", "caches", "start", "import"]
    assert table.note == "Host clock; 3 fresh processes each, from start to end."
    cost = staged_programs.costs(table.rows)["sleeper"]
    assert cost.start == pytest.approx(row["seconds"]["median"]) and cost.launch == row["launch_seconds"]["median"]
    assert cost.low <= cost.start <= cost.high


def test_the_lean_programs_leave_cupy_out_and_have_all_stages() -> None:
    for name in ("cupy_cubin", "pycuda_alone", "binding_alone", "cuda_core"):
        text = staged_programs.text(name)
        assert ("import cupy" in text) == name.startswith("cupy"), name
        stages = [line[2:] for line in text.splitlines() if line.startswith("# ")]
        assert [each for each in stages if each != "load"] == ["import", "context", "launch", "launches", "check"], name


def test_cupy_gets_the_source_where_it_gets_the_cubin(tmp_path: Path) -> None:
    programs = staged_programs.lean(tmp_path)
    (source, [source_file]), (cubin, [cubin_file]) = programs["CuPy, source"], programs["CuPy, cubin"]
    (pair,) = [pair for pair in zip(source.splitlines(), cubin.splitlines(), strict=True) if pair[0] != pair[1]]
    assert "RawModule(code=open(sys.argv[2]).read())" in pair[0] and "RawModule(path=sys.argv[2])" in pair[1]
    assert source_file == kernels.path("doublify") and Path(cubin_file).read_bytes()[:4] == b"\x7fELF"
