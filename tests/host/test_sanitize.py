"""The host way under a sanitizer, by `fourways check --sanitize`: a fault is named by the lines of the kernel."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fourways import cli, host

KERNEL = (Path(__file__).parent / "kernels" / "shifts.cu").read_text(encoding="utf-8")
COPY = (Path(__file__).parent / "kernels" / "copy.cu").read_text(encoding="utf-8")
CASE = """import numpy as np
sizes = (4096,)
arguments = lambda size: {"x": np.ones(size, np.float32), "y": None, "n": np.int64(size)}
reference = lambda x: {"y": x}
"""
ZEROS = """import numpy as np
def arguments(size):
    x, y = np.zeros((2, size), np.float32)
    return {"x": x, "y": y, "n": np.int64(size)}
reference = lambda y: {"y": y}  # whoever reads or writes which element, the answer is right
"""
SOUND = {"BETWEEN": "__syncthreads()", "GUARD": "i < n", "INDEX": "(threadIdx.x + 1) % 256"}


def check(folder: Path, kind: str, **instead: str) -> Result:
    text = KERNEL
    for word, code in (SOUND | instead).items():
        text = text.replace(word, code)
    (folder / "mine.cu").write_text(text)
    (folder / "zeros.py").write_text(ZEROS)
    words = ["check", str(folder / "mine.cu"), "--case", str(folder / "zeros.py"), "--sanitize", kind]
    return CliRunner().invoke(cli.app, words)


@pytest.mark.parametrize("kind", [pytest.param("thread", marks=pytest.mark.long), "address"])
def test_a_sound_kernel(tmp_path: Path, kind: str) -> None:
    plain = host.compile
    done = check(tmp_path, kind)
    assert done.exit_code == 0 and "Nothing was found at 8 sizes, from 1 to 1009" in done.stdout
    assert host.compile is plain, "only that command compiles so"


def test_a_race_is_two_lines_and_two_threads(tmp_path: Path) -> None:
    done = check(tmp_path, "thread", BETWEEN="")
    assert done.exit_code == 1
    assert (
        "mine_host, size 1009: ThreadSanitizer: data race" in done.stderr and "a __syncthreads() between" in done.stderr
    )
    assert "mine.cu:5: s[threadIdx.x] = i < n ? x[i] : 0;" in done.stderr
    assert "mine.cu:8: y[i] = s[(threadIdx.x + 1) % 256];" in done.stderr
    assert "of s, which has 256" in done.stderr and "by thread" in done.stderr
    assert "entry.hpp" not in done.stderr and len(done.stderr.splitlines()) == 5


def test_a_wrong_answer_without_a_race_says_so(tmp_path: Path) -> None:
    (tmp_path / "case.py").write_text(CASE.replace('"y": x', '"y": x + 1').replace("4096", "64"))
    (tmp_path / "mine.cu").write_text(COPY)
    command = ["check", str(tmp_path / "mine.cu"), "--case", str(tmp_path / "case.py"), "--sanitize", "thread"]
    done = CliRunner().invoke(cli.app, command)
    assert done.exit_code == 1 and "expected 2" in done.stderr
    assert done.stderr.endswith("The search named no race at this size.\n")


@pytest.mark.parametrize(
    "instead, said, lines",
    [
        ({"GUARD": "true"}, "of its block: element 10.. of an array, which has 1009", 3),
        ({"INDEX": "256 + threadIdx.x / 256"}, "read by thread .* of its block: element 256 of s, which has 256", 3),
    ],
)
def test_an_access_outside_of_an_array(tmp_path: Path, instead: dict[str, str], said: str, lines: int) -> None:
    done = check(tmp_path, "address", **instead)
    assert done.exit_code == 1 and "mine_host, size 1009: AddressSanitizer: " in done.stderr
    assert "mine.cu:8: y[i] = s[" in done.stderr and re.search(said, done.stderr)
    assert len(done.stderr.splitlines()) == lines


@pytest.mark.parametrize(
    ("words", "said"),
    [("memory", "'memory' is not one of 'thread', 'address'"), ("thread -w nvcc", "only the host way")],
)
def test_what_no_sanitizer_can_do(words: str, said: str) -> None:
    done = CliRunner().invoke(cli.app, ["check", "1", "--sanitize", *words.split()])
    assert done.exit_code == 2 and said in " ".join(done.stderr.replace("│", "").split())


NEWER = Path(__file__).with_name("report_of_clang.txt").read_text(encoding="utf-8")


def test_reports_of_newer_compilers_are_read(tmp_path: Path) -> None:
    """Clang's and GCC 13's: with columns, and `after` in place of `to the right of`."""
    file = tmp_path / "mine.cu"
    file.write_text(KERNEL)
    assert host.finding(NEWER.replace("FILE", str(file))).splitlines() == [
        "AddressSanitizer: heap-buffer-overflow. The kernel left an array that it was given; is there `if (i < n)`?",
        f"  {file}:8: y[i] = s[INDEX];",
        "    written by thread 33 of its block: element 33 of an array, which has 33",
    ]
    before = NEWER.replace("FILE", str(file)).replace("0 bytes after", "8 bytes before")
    assert "element -2 of an array, which has 33" in host.finding(before)
