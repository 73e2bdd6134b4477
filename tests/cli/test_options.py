"""What the commands' options refuse before any work is done, each with one clear message."""

import re

import pytest
from commands import NO_GPU, fourways, said

from fourways import kernels, ways
from fourways.cli import options


@pytest.mark.parametrize(
    "words, told",
    [
        ("nothing", "No such command 'nothing'"),
        ("check 1 --way opencl", "'opencl' is not one of 'nvrtc', 'nvcc', 'pycuda', 'pybind11', 'host'"),
        ("time 1 --sizes 0", "Invalid value for --sizes: '0' is not a size"),
        ("profile 1 --size many", "Invalid value for --size: 'many' is not a size"),
        ("time 1 --json cpp", "cpp is a folder; name a file in it"),
        ("build 1 --json nowhere/rows.json", "nowhere/rows.json: there is no folder"),
        ("link --json /proc/rows.json", "/proc/rows.json: nothing can be written in /proc"),
        ("profile 1 --report mine.txt", "a report is a .ncu-rep file"),
        ("run --timeout soon", "Invalid value for '--timeout'"),
    ],
)
def test_mistakes_get_one_clear_message(words: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(kernels.root())
    done = fourways(*words.split())
    assert done.exit_code == 2
    assert told in said(done)


@NO_GPU
@pytest.mark.parametrize("command", ["check", "time", "profile"])
def test_a_way_that_cannot_run_here_is_refused(command: str) -> None:
    done = fourways(command, "1", "--way", "nvrtc")
    assert done.exit_code == 1 and re.match("nvrtc( cannot run here)?: no NVIDIA driver", str(done.exception))


def test_every_way_may_be_asked_for() -> None:
    assert [*options.WayName] == [*ways.WAYS]


def test_a_lesson_named_twice_is_taken_once() -> None:
    done = fourways("check", "1", "doublify", "01_doublify", "-w", "host")
    assert done.exit_code == 0 and done.stdout.count("01_doublify") == 1


@pytest.mark.parametrize(
    "text, sizes",
    [("2^20", [2**20]), ("2**3, 5", [8, 5]), ("2^10:2^13", [1024, 2048, 4096, 8192]), ("3:13", [3, 6, 12])],
)
def test_sizes(text: str, sizes: list[int]) -> None:
    assert options.parse_sizes(text) == sizes


@pytest.mark.parametrize("text", ["", "0", "2^10:2^9", "1:2:3", "big", "2^41"])
def test_sizes_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size; expected|no memory holds more"):
        options.parse_sizes(text)
