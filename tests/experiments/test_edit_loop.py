"""What lesson 00 measures, and the judges of its exercises."""

import itertools
import random
import time
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fourways import kernels
from fourways.experiments import edit_loop


def test_an_edit_changes_the_copy_and_not_the_clone() -> None:
    before, bench = kernels.source("doublify"), edit_loop.Workbench()
    assert bench.factor == 2
    bench.edit()
    assert bench.factor != 2 and bench.kernel_file.read_text() != before == kernels.source("doublify")


def test_the_times_of_a_rebuild_come_from_its_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ninja's log begins with the first build; what counts is the last line of each step."""
    bench = edit_loop.Workbench()

    def rebuild() -> float:
        log = bench.kernel_file.parents[2] / "build" / ".ninja_log"
        log.parent.mkdir(exist_ok=True)
        log.write_text("# ninja log v7\n1\t900\t17\tx/doublify.cu.o\tab\n1\t620\t18\tx/doublify.cu.o\tab\n"
                       "620\t667\t19\tfourways_aot.so\tcd\n")  # fmt: skip
        return 0.75

    monkeypatch.setattr(bench, "rebuild", rebuild)
    monkeypatch.setattr(edit_loop, "SAMPLES", 1)
    rows = {row["compiler"]: row["seconds"]["median"] for row in bench.compile_edits().rows}
    assert rows["CMake"] == 0.75
    assert rows["CMake: nvcc"] == pytest.approx(0.619) and rows["CMake: linker"] == pytest.approx(0.047)
    assert 0 < rows["NVRTC"] < rows["nvcc"]


def right(call: Callable[[], None]) -> list[float]:
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return seconds


def by_the_cpu_s_clock(call: Callable[[], None]) -> list[float]:
    seconds = []
    for _ in range(2):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return seconds


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda call: None, "called 0 times"),
        (lambda call: [call(), call()] and (0.3, 0.001), "and the function says 0.300 s"),
        (lambda call: (timeit.timeit(call, number=2) / 2, 0), "call waited"),
        (lambda call: right(call)[::-1], "call waited"),
        (lambda call: (call(), call(), (float("nan"),) * 2)[2], "the function says nan s"),
        (lambda call: (call(), call()), "wanted are two numbers"),
        (lambda call: map(str, right(call)), "wanted are two numbers"),
        (lambda call: (call(), call(), (10**400,) * 2)[2], "the function says inf s"),
        (by_the_cpu_s_clock, "and the function says 0.00"),
        (lambda call: sum(right(call)), "wanted are two numbers"),
        (lambda call: np.array(sum(right(call))), "wanted are two numbers"),
        (lambda call: itertools.cycle(right(call)), "wanted are two numbers"),
    ],
)
def test_calls_that_are_timed_wrongly_are_told(answer: Callable[[Any], Any], told: str) -> None:
    said = edit_loop.check_two_calls(answer)
    assert said.startswith("Not yet: ") and told in said


def test_calls_that_are_timed_rightly() -> None:
    assert edit_loop.check_two_calls(right).startswith("Right")


@pytest.fixture
def same_numbers() -> None:
    """Let the judge draw the same kernels in each test: their machine code is made once."""
    random.seed(1)


def same(text: str, arch: str, other: str) -> bool:
    return edit_loop.instructions(text, arch) == edit_loop.instructions(text, other)


def opcodes(text: str, arch: str) -> list[str]:
    return [line.split()[0] for line in edit_loop.instructions(text, arch)]


@pytest.mark.parametrize(
    "answer",
    [
        lambda text, arch, other: True,
        lambda text, arch, other: arch == other,
        lambda text, arch, other: arch[:4] == other[:4],
        lambda text, arch, other: len(edit_loop.instructions(text, arch)) == len(edit_loop.instructions(text, other)),
        lambda text, arch, other: {arch, other} <= {"sm_80", "sm_86"} or arch == other,  # true of doublify alone
        lambda text, arch, other: opcodes(text, arch) == opcodes(text, other),
    ],
)
@pytest.mark.usefixtures("same_numbers")
def test_a_guess_at_architectures_is_told(answer: Callable[..., bool]) -> None:
    assert edit_loop.check_same_code(answer).startswith("Not yet: ")


@pytest.mark.usefixtures("same_numbers")
def test_instructions_compared_are_right() -> None:
    assert edit_loop.check_same_code(same).startswith("Right")
