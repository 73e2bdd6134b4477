"""Situations of users, each with the answer that an experienced engineer would give, and why."""

import re
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from fourways.experiments import choosing
from fourways.experiments.choosing import Cost, Situation, advise


class Case(NamedTuple):
    """A situation and a program of a day, the candidates to take, those that are out, and what the advice must say.

    Where several may be taken, the machine decides. `why` is the engineer's reason.
    """

    name: str
    situation: dict[str, Any]
    program: dict[str, Any]
    take: str
    out: str
    says: list[str]
    why: str


CASES = [
    Case(
        "a plug-in host on laptops where users type formulas",
        {"text": "run-time", "callers": "plug-in"},
        {"kernel": 30e-6, "launches": 1000, "runs": 20, "cold_runs": 20},
        take="nvrtc",
        out="nvcc pycuda pybind11 cubin",
        says=["ElementwiseKernel", r"LTO-IR: with CUB in it, a formula took \d.* ms instead of 1\.\d+ s"],
        why="Laptops have no nvcc, and a typed formula cannot be compiled before it is shipped.",
    ),
    Case(
        "a nightly batch of 200 launches of 30 µs on a cluster",
        {"nodes": 64},
        {"kernel": 30e-6, "launches": 200, "runs": 1, "cold_runs": 1},
        take="nvrtc",
        out="lto",
        says=[r"A GPU works 6\.\d+ ms a day", "the time does not matter", "all 64 machines compile, with one shared"],
        why="Six milliseconds of work a night: the simplest way wins, but 64 empty caches are 64 compilations.",
    ),
    Case(
        "a library on PyPI",
        {"callers": "strangers", "pythons": 4, "systems": 2},
        {"kernel": 30e-6, "launches": 200, "runs": 100},
        take="nvrtc",
        out="nvcc pycuda lto",
        says=["does not matter", "ship cubins and PTX"],
        why="One pure wheel that compiles where it runs, for all Pythons and GPUs. PyCUDA and nvcc cannot be demanded.",
    ),
    Case(
        "a service that must answer in 50 ms after its start",
        {"within": 0.05},
        {"kernel": 30e-6, "launches": 1, "runs": 1000},
        take="nvrtc",
        out="lto",
        says=[r"No process gives a first result 50\.0 ms after its start", "Keep a process running"],
        why="The interpreter, the imports and the context alone take ten times as long: no way can.",
    ),
    Case(
        "a kernel generated for each data set",
        {"text": "run-time"},
        {"kernel": 1e-3, "launches": 100, "runs": 1000, "cold_runs": 1000},
        take="nvrtc",
        out="pybind11 cubin lto",
        says=["takes .* a day more"],
        why="Each data set brings a new text, so each start compiles; NVRTC compiles it soonest.",
    ),
    Case(
        "GPUs newer than the toolkit",
        {"gpus": "newer"},
        {"kernel": 30e-6, "launches": 200, "runs": 100},
        take="cubin",
        out="nvrtc nvcc pycuda lto",
        says=["Ship PTX beside the machine code", "Or update the toolkit"],
        why="An old compiler writes no code for a new GPU, but the new driver compiles old PTX.",
    ),
]


@pytest.fixture(scope="module")
def costs() -> dict[str, Cost]:
    return choosing.costs(*choosing.recorded())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_advice_is_the_engineer_s(case: Case, costs: dict[str, Cost]) -> None:
    advice = advise(Situation(**case.situation), costs, **case.program)
    text = " ".join(advice.sentences)
    assert advice.take in case.take.split(), text
    assert sorted(row["way"] for row in advice.out.rows) == sorted(case.out.split())
    for words in case.says:
        assert re.search(words, text), text


def test_every_sentence_and_reason_names_what_it_rests_on(costs: dict[str, Cost]) -> None:
    for case in CASES:
        advice = advise(Situation(**case.situation), costs, **case.program)
        for said in [*advice.sentences[1:], *(row["reason"] for row in advice.out.rows)]:
            assert re.search(r"\((lesson \d\d|measured|page Installation|page Caches and storms).*\)", said), said


NEAR = Cost("nvrtc", {"start": 0.5}, 0.45, 0.6, launch=5e-6)
SLOW = Cost("slow", {"start": 9}, 9, 9, launch=5e-6)


@pytest.mark.parametrize(
    "start, runs, take",
    [
        (Cost("nvcc", {"start": 0.46}, 0.44, 0.5, launch=5e-6), 1000, "nvrtc"),  # within the spread
        (Cost("nvcc", {"start": 0.3}, 0.29, 0.31, launch=5e-6), 100, "nvrtc"),  # less than a minute a day
        (Cost("nvcc", {"start": 0.3}, 0.29, 0.31, launch=5e-6), 1000, "nvcc"),
    ],
)
def test_only_differences_beyond_the_spread_and_a_minute_a_day_count(start: Cost, runs: int, take: str) -> None:
    costs = {"nvrtc": NEAR, "nvcc": start, **{name: SLOW for name in ("pybind11", "cubin")}}
    assert advise(Situation(), costs, 30e-6, 10, runs=runs).take == take


def test_where_nothing_fits_that_is_said() -> None:
    advice = advise(Situation(text="run-time", compiler="none"), {"nvrtc": NEAR}, 30e-6, 10)
    assert advice.take is None and advice.times is None
    assert advice.sentences[0].startswith("Nothing fits") and len(advice.out.rows) == 6


@pytest.mark.parametrize(
    "wrong", [{"text": "soon"}, {"callers": "all"}, {"compiler": "gcc"}, {"gpus": "old"}, {"nodes": 0}]
)
def test_an_impossible_situation_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"^{next(iter(wrong))}: "):
        Situation(**wrong)


def test_nodes_start_and_compile_at_the_same_time() -> None:
    (row,) = choosing.choose({"nvrtc": replace(NEAR, cold=0.2)}, 30e-6, 0, 2, 1, nodes=8).rows
    assert row["total_seconds"] == pytest.approx(8 * (2 * 0.5 + 0.2))


def test_the_page_to_keep_draws_each_question_once_and_names_lessons() -> None:
    texts = [text.get_text() for text in choosing.tree().axes[0].texts]
    assert sum(text == "yes" for text in texts) == sum(text == "no" for text in texts) == 9
    assert len([text for text in texts if re.search(r"\nlesson \d\d", text)]) == 10
