"""`fourways case`, and cases in the commands that run ways; what is wrong ends in one line and an exit code."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import fourways, said

from fourways import checking, cli
from fourways.case import Case, signature_of, skeleton
from fourways.kernels import InputError

CASES = Path(__file__).parents[1] / "cases"
COPY = """extern "C" __global__ void copy(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}
"""
CASE = """import numpy as np


def make_inputs(size):
    return (np.ones(size, np.float32),)


def reference(x):
    return x
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "copy.cu").write_text(COPY)
    (tmp_path / "case.py").write_text(CASE)
    return tmp_path / "copy.cu"


def test_a_case_is_begun_and_checked(mine: Path) -> None:
    done = fourways("case", "copy.cu")
    assert done.exit_code == 0 and "copy(const float *x, float *y, int n)" in done.stdout
    assert "next: fourways check copy.cu --case copy_case.py" in done.stderr
    assert Path("copy_case.py").read_text() == skeleton(signature_of(mine), COPY)
    done = fourways("check", "copy.cu", "--case", "copy_case.py", "--way", "host")
    assert done.exit_code == 0 and "right" in done.stdout and "Checked against the host way" in done.stdout
    done = fourways("case", "copy.cu")
    assert done.exit_code == 2 and "is there already" in said(done)
    assert fourways("case", "copy.cu", "-o", "other.py").exit_code == 0 and Path("other.py").is_file()


def test_the_calls_are_shown_to_be_copied(mine: Path) -> None:
    for way in ("nvrtc", "nvcc", "pycuda", "host"):
        done = fourways("case", "copy.cu", "--case", "case.py", "--way", way)
        assert done.exit_code == 0 and f"def copy_{way}(n, x, y):" in done.stdout
        compile(done.stdout, way, "exec")
    assert not Path("copy_case.py").exists()
    done = fourways("case", "copy.cu", "--case", "case.py", "--way", "pybind11")
    assert "def copy_pybind11(n, x, y):" in done.stdout and "launch" not in done.stdout
    assert "copy_package.copy_package(x, out=y)" in done.stdout, "a module `copy` would hide Python's"
    assert fourways("case", "copy.cu", "--case", "case.py").exit_code == 2, "it is for --way"


def test_variants_are_timed_side_by_side(mine: Path, tmp_path: Path) -> None:
    Path("other.cu").write_text(COPY.replace("copy", "other"))
    words = ["copy.cu", "other.cu", "--case", "case.py", "--way", "host", "--size", "1000", "--json", "rows.json"]
    done = fourways("time", *words)
    assert done.exit_code == 0 and "Checked against reference of case.py" in done.stdout
    rows = json.loads(Path("rows.json").read_text())["tables"]["timing"]
    assert [row["way"] for row in rows if row["clock"] == "host"] == ["copy.cu, host", "other.cu, host"]
    Path("other.cu").write_text(COPY.replace("y[i] = x[i]", "y[i] = 2 * x[i]"))
    failed = fourways("time", *words).exception
    assert isinstance(failed, checking.CheckFailure) and "other.cu, host, size 1: element 0 is 2.0" in str(failed)


def test_variants_take_the_same_arguments(mine: Path) -> None:
    Path("other.cu").write_text(COPY.replace("float *y", "double *y"))
    failed = fourways("time", "copy.cu", "other.cu", "--case", "case.py", "--way", "host").exception
    assert isinstance(failed, InputError) and "no variants" in str(failed)


@pytest.mark.long
def test_the_first_result_of_a_case(mine: Path) -> None:
    done = fourways("time", "copy.cu", "--case", "case.py", "--first", "--way", "host", "--json", "rows.json")
    assert done.exit_code == 0 and "medians of 1 cold and 3 warm fresh processes" in " ".join(done.stdout.split())
    cold, warm = json.loads(Path("rows.json").read_text())["tables"]["first_result"]
    assert cold["kernel"] == "copy" and cold["stages"]["build"] > warm["stages"]["build"] > 0


def test_a_kernel_that_hangs_is_stopped_and_said(mine: Path) -> None:
    """Both where the host way is checked and where it says what is right."""
    mine.write_text(COPY.replace("if (i < n)\n", "while (true)\n            if (i < n)\n"))
    done = fourways("check", "copy.cu", "--case", "case.py", "--way", "host", "--timeout", "1")
    said = "of block (0, 0, 0) of copy was not done after 1 s and was stopped: does a loop never end?"
    assert done.exit_code == 1 and "copy_host, size 0: " in done.stderr and said in done.stderr
    done = fourways("check", "copy.cu", "--way", "host", "--timeout", "1")
    assert done.exit_code == 1 and said in done.stderr


def test_a_write_beyond_the_output_is_said(mine: Path) -> None:
    mine.write_text(COPY.replace("i < n", "i <= n").replace("x[i]", "1"))
    done = fourways("check", "copy.cu", "--case", "case.py", "--way", "host")
    assert done.exit_code == 1 and "copy_host, size 0: " in done.stderr
    assert "writes element 0 of y, which has 0; is there a test like `if (i < n)`" in done.stderr


def ends(monkeypatch: pytest.MonkeyPatch, *words: str) -> object:
    """The exit code of the whole command."""
    monkeypatch.setattr(sys, "argv", ["fourways", *words])
    with pytest.raises(SystemExit) as end:
        cli.main()
    return end.value.code


@pytest.mark.parametrize(
    ("kernel", "case", "words", "code", "said"),
    [
        ("int x;", CASE, [], 1, "copy.cu holds no kernel"),
        (
            COPY + COPY.replace("copy", "other"),
            CASE,
            [],
            1,
            "copy.cu holds several kernels; --entry must name one: copy, other",
        ),
        (COPY, CASE, ["--entry", "other"], 1, "no kernel 'other' in copy.cu; there are: copy"),
        (COPY, "def (", [], 1, "case.py cannot be run: SyntaxError"),
        (COPY, CASE.replace("make_inputs", "inputs"), [], 1, "case.py: defines no function make_inputs(size)"),
        (COPY, CASE.replace(",)", ", 1, 2)"), [], 1, "case.py: make_inputs gives 3 values; copy(const float *x, float"),
        (COPY, CASE.replace("return x", "return x / y"), [], 1, "reference(…), line 9: NameError"),
        (COPY, CASE.replace("return x", "return x + np.nan"), [], 1, "reference gives NaN for y"),
        (COPY, CASE.replace("return x", "return 2 * x"), [], 1, "copy_host, size 1: element 0 is 1.0, expected 2.0"),
        (COPY, CASE.replace("return x", "return x[:-1]"), [], 1, "copy_host, size 1: it raised KernelError: thread"),
        (COPY, CASE + "\nlaunch = lambda size: (0, 1)", [], 1, "launch(5): grid is (0,); CUDA takes 1 to"),
        (COPY.replace("x[i];", "z[i];"), CASE, [], 1, "could not compile copy.cu"),
        (COPY.replace('extern "C"', ""), CASE, [], 1, 'copy must be extern "C"'),
        (COPY, CASE, ["--case", "nowhere.py"], 2, "nowhere.py: `fourways case my.cu` writes a case for a kernel"),
    ],
)
def test_what_is_wrong_ends_in_words_and_an_exit_code(
    mine: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    kernel: str,
    case: str,
    words: list[str],
    code: int,
    said: str,
) -> None:
    mine.write_text(kernel)
    Path("case.py").write_text(case)
    assert ends(monkeypatch, "check", "copy.cu", "--way", "host", "--case", "case.py", *words) == code
    told = capsys.readouterr().err
    assert said in told and "Traceback" not in told


def test_the_code_of_a_way_runs_as_it_is_printed(tmp_path: Path) -> None:
    """With its launch: the default, and one of the case's own."""
    for name in ("axpy", "blur"):
        for ending in ("cu", "py"):
            shutil.copy(CASES / f"{name}.{ending}", tmp_path)
        text = fourways("case", tmp_path / f"{name}.cu", "--case", tmp_path / f"{name}.py", "--way", "host").stdout
        case = Case.load(tmp_path / f"{name}.cu", case=tmp_path / f"{name}.py")
        inputs = case.make_inputs(33)
        expected = case.reference(*inputs)
        outputs = checking.fresh_outputs(inputs, expected, case.starts)
        namespace: dict[str, Any] = {}
        sys.path.insert(0, str(tmp_path))
        try:
            exec(text, namespace)
        finally:
            sys.path.remove(str(tmp_path))
        namespace[f"{name}_host"](*inputs, *outputs)
        assert checking.compare_all(outputs, expected, case.rtol, case.atol) is None


def test_a_case_is_for_a_file_and_the_next_command_names_the_kernel(tmp_path: Path) -> None:
    refused = fourways("case", "1")
    assert refused.exit_code == 2 and "file of your own" in " ".join(refused.output.split())
    two = tmp_path / "two.cu"
    text = 'extern "C" __global__ void {}(const float *x, float *y, int n) {{ y[0] = x[0]; }}\n'
    two.write_text(text.format("a") + text.format("b"))
    done = fourways("case", two, "--entry", "b")
    assert done.exit_code == 0 and "--entry b --case" in done.output
