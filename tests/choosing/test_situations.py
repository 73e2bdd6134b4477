"""Situations of users, each with the answer that an experienced engineer would give, and why."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from fourways import choosing
from fourways.choosing import Cost, Situation, advise


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
        "a library on PyPI for machines where nothing may be compiled",
        {"callers": "strangers", "compiler": "none", "pythons": 4, "systems": 2},
        {"kernel": 30e-6, "launches": 200, "runs": 100},
        take="cubin",
        out="nvrtc nvcc pycuda lto",
        says=["Ship PTX beside"],
        why="Machine code without Python in it needs one wheel; a binding needs one for each Python and system.",
    ),
    Case(
        "a class of fifty on one GPU",
        {"callers": "class", "sharing": 50},
        {"kernel": 30e-6, "launches": 200, "runs": 500, "cold_runs": 50, "edits": 500},
        take="nvrtc",
        out="lto",
        says=[
            r"50 contexts: \d+ MiB each on the recorded GPU, \d+\.\d GB in all",
            "take turns",
            r"takes 4\d\.\d ms until",
        ],
        why="500 edits cost a binding's class a quarter of an hour; fifty contexts do not fit on a small GPU.",
    ),
    Case(
        "a notebook",
        {},
        {"kernel": 200e-6, "launches": 1000, "runs": 2, "cold_runs": 1, "edits": 50},
        take="nvrtc",
        out="lto",
        says=[r"a change of the kernel takes 4\d\.\d ms until the next result \(lesson 00\)"],
        why="A change is compiled inside the running process, with all of its data.",
    ),
    Case(
        "a CI job",
        {"compiler": "nvrtc"},
        {"kernel": 30e-6, "launches": 20, "runs": 40, "cold_runs": 40},
        take="nvrtc",
        out="nvcc pycuda lto",
        says=["does not matter"],
        why="Every job starts cold, and still NVRTC's builds add seconds a day; nothing else must be installed.",
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
        "a kernel changed every minute",
        {},
        {"kernel": 1e-3, "launches": 100, "runs": 1, "edits": 480},
        take="nvrtc",
        out="lto",
        says=[r"a change of the kernel takes 4\d\.\d ms"],
        why="480 builds of a binding are a quarter of an hour a day.",
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
        "10,000 launches of 2 µs a second",
        {},
        {"kernel": 2e-6, "launches": 864_000_000, "runs": 1},
        take="nvrtc pybind11",
        out="lto",
        says=["A launch keeps the host busy", "a CUDA graph queues many"],
        why="The calls take the host less than a tenth of each second. A graph needs far fewer of them.",
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
    Case(
        "no internet",
        {"offline": True, "compiler": "nvrtc"},
        {"kernel": 30e-6, "launches": 200, "runs": 100},
        take="nvrtc",
        out="nvcc pycuda lto",
        says=["`fourways wheelhouse` collects the wheels"],
        why="Nothing is fetched when a kernel runs; only the installation needs files from elsewhere.",
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
Change = Callable[[Cost], Cost]


@pytest.mark.parametrize(
    "faster, take",
    [
        (Cost("nvcc", {"start": 0.46}, 0.44, 0.5, launch=5e-6), "nvrtc"),  # within the spread
        (Cost("nvcc", {"start": 0.3}, 0.29, 0.31, launch=5e-6), "nvcc"),  # 200 ms, 1,000 times a day
    ],
)
def test_only_differences_beyond_the_spread_count(faster: Cost, take: str) -> None:
    costs = {"nvrtc": NEAR, "nvcc": faster}
    assert advise(Situation(), costs, 30e-6, 10, runs=1000, among=list(costs)).take == take


def test_differences_below_a_minute_a_day_do_not_count() -> None:
    faster = Cost("nvcc", {"start": 0.3}, 0.29, 0.31, launch=5e-6)
    costs = {"nvrtc": NEAR, "nvcc": faster}
    assert advise(Situation(), costs, 30e-6, 10, runs=100, among=list(costs)).take == "nvrtc"


def test_a_program_that_is_not_described_further_runs_once_a_day() -> None:
    costs = {"nvrtc": NEAR, "nvcc": Cost("nvcc", {"start": 0.3}, 0.29, 0.31, launch=5e-6)}
    shown = [str(advise(Situation(), costs, 30e-6, 10, **runs, among=list(costs))) for runs in ({}, {"runs": 1})]
    assert shown[0] == shown[1] != str(advise(Situation(), costs, 30e-6, 10, runs=2, among=list(costs)))


def test_where_nothing_fits_that_is_said() -> None:
    advice = advise(Situation(text="run-time", compiler="none"), {"nvrtc": NEAR}, 30e-6, 10)
    assert advice.take is None and advice.times is None
    assert advice.sentences[0].startswith("Nothing fits") and len(advice.out.rows) == 6


def test_a_deadline_rules_out_the_slow_ones_alone() -> None:
    slow = Cost("nvcc", {"start": 2.0}, 1.9, 2.1, launch=5e-6)
    advice = advise(Situation(within=1.0), {"nvrtc": NEAR, "nvcc": slow}, 30e-6, 10, among=["nvrtc", "nvcc"])
    assert advice.take == "nvrtc"
    assert {row["way"]: row["reason"] for row in advice.out.rows}["nvcc"] == "its first result takes 2.00 s (measured)"
    assert "No process" not in " ".join(advice.sentences)


@pytest.mark.parametrize(
    "wrong", [{"text": "soon"}, {"callers": "all"}, {"compiler": "gcc"}, {"gpus": "old"}, {"nodes": 0}]
)
def test_an_impossible_situation_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"^{next(iter(wrong))}: "):
        Situation(**wrong)


def test_nodes_start_and_compile_at_the_same_time() -> None:
    (row,) = choosing.choose(
        {"nvrtc": Cost("nvrtc", {"start": 0.5}, 0.45, 0.6, 5e-6, cold=0.2)}, 30e-6, 0, 2, 1, nodes=8
    ).rows
    assert row["total_seconds"] == pytest.approx(8 * (2 * 0.5 + 0.2))


def test_the_page_to_keep_draws_each_question_once_and_names_lessons() -> None:
    drawn = choosing.tree()
    texts = [text.get_text() for text in drawn.axes[0].texts]
    assert sum(text == "yes" for text in texts) == sum(text == "no" for text in texts) == 9
    assert len([text for text in texts if re.search(r"\nlesson \d\d", text)]) == 10


def test_no_arrow_of_the_page_runs_through_a_yes_or_a_no() -> None:
    drawn = choosing.tree()
    drawn.canvas.draw()
    texts = drawn.axes[0].texts
    arrows = [each.get_window_extent() for each in texts if getattr(each, "arrow_patch", None)]
    words = [each.get_window_extent() for each in texts if each.get_text() in ("yes", "no")]
    assert arrows and not any(word.overlaps(arrow) for word in words for arrow in arrows)
