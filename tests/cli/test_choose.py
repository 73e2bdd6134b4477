"""`fourways choose`: an answer from the book's numbers or one's own, and one clear message for each mistake."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from commands import fourways, said
from typer.testing import CliRunner

from fourways import choosing, cli, files, kernels, toolchain


def test_an_answer_with_rows_and_a_figure(tmp_path: Path) -> None:
    rows, figure = tmp_path / "rows.json", tmp_path / "choose.svg"
    done = fourways("choose", "--kernel", "2us", "--launches", "100000", "--json", rows, "--figure", figure)
    assert (
        done.exit_code == 0
        and done.stdout.startswith("Take ")
        and "Measured on NVIDIA" in " ".join(done.stdout.split())
    )
    found = json.loads(rows.read_text())["tables"]["choose"]
    assert {row["way"] for row in found} == {"nvrtc", "nvcc", "pycuda", "pybind11", "cubin"}
    assert (found[0]["launches"], found[0]["runs"], found[0]["kernel_seconds"]) == (100_000, 100, pytest.approx(2e-6))
    assert "A kernel of 2.00 µs" in figure.read_text() and ">pycuda<" in figure.read_text()


def test_the_advice_is_kept_and_ways_that_are_out_are_not_drawn(tmp_path: Path) -> None:
    rows, figure = tmp_path / "rows.json", tmp_path / "choose.svg"
    done = fourways("choose", "--callers", "strangers", "--json", rows, "--figure", figure)
    tables = json.loads(rows.read_text())["tables"]
    told = [row["sentence"] for row in tables["advice"]]
    assert told[0].startswith("Take nvrtc") and " ".join(done.stdout.split()).startswith(" ".join(told))
    assert {row["way"] for row in tables["out"]} == {"nvcc", "pycuda", "lto"}
    assert ">nvrtc<" in figure.read_text() and ">pycuda<" not in figure.read_text()


def test_in_a_terminal_it_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(sys.modules["fourways.cli.choose"], "sys", terminal)
    answers = ["run-time", "plug-in", "soon", *[""] * 14]  # a wrong one is asked again
    done = CliRunner().invoke(cli.app, ["choose"], input="\n".join(answers) + "\n")
    told = " ".join(done.stdout.split())
    assert done.exit_code == 0, told
    assert "When is the kernel's text known" in told and "select one of the available options" in told
    assert "(nvrtc)" in told, "the default compiler of a plug-in host's users"
    assert "Take nvrtc" in told and "ElementwiseKernel" in told


def test_ways_and_numbers_of_one_s_own(tmp_path: Path) -> None:
    recorded = json.loads(choosing.recorded()[-1].read_text())["tables"]
    times = {"median": 5e-6, "p10": 4e-6, "p90": 6e-6, "samples": 3}
    first = tmp_path / "first.json"
    launches = [row | {"launch_seconds": times} for row in recorded["timing"] if "launch_seconds" in row]
    first.write_text(files.results(toolchain.stamp(), {"first_result": recorded["first_result"], "timing": launches}))
    done = fourways("choose", "-r", first, "--way", "pycuda", "--way", "nvrtc", "--edits", "5")
    assert done.exit_code == 0 and "pycuda" in done.stdout and "Take nvrtc" in done.stdout
    assert "pybind11" not in done.stdout and "cubin" not in done.stdout
    assert "edits: 5" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    "words, told",
    [
        ("--way opencl", "Invalid value for --way: 'opencl'; choose from nvrtc, nvcc, pycuda, pybind11"),
        ("--way host", "'host'; choose from"),
        (
            "--kernel banana",
            "Invalid value for --kernel: 'banana' is not a time above 0; expected a number and its unit",
        ),
        ("--kernel -30us", "'-30us' is not a time above 0"),
        ("--launches many", "Invalid value for '--launches'"),
        ("--launches -1", "Invalid value for '--launches'"),
        ("--runs 0", "Invalid value for '--runs'"),
        ("--runs 3 --cold 4", "Invalid value: of 3 runs, 4 cannot be cold"),
        ("--kernel 1e300s --launches 100000000000", "Invalid value: the total is more seconds"),
        (f"--launches {10**400}", "more seconds than a number can hold"),
        ("--results README.md", "Invalid value for --results: README.md is not valid JSON"),
        ("--results nowhere.json", "nowhere.json cannot be read (No such file or directory)"),
        ("--results book/recorded/01_doublify.ipynb", "is not a file of results with `stamp` and `tables`"),
        ("--results book/results/00_two_workflows.json", "no first results in"),
    ],
)
def test_mistakes_get_one_clear_message(words: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(kernels.root())
    done = fourways("choose", *words.split())
    assert done.exit_code == 2
    assert told in said(done)
