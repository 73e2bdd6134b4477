"""The judge of the page's exercise: a kernel of the learner's own, with its case."""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fourways import building, checking, kernels, own_kernel
from fourways.experiments.own_kernel.cases import CLEAN, NO_SEARCH, TIMEOUT, search
from fourways.own_kernel import Case

StandIn = Callable[[Any], Callable[..., None]]
"""A function in the kernel's place, made for a question."""


def judge(kernel: str, case: str) -> str:
    """Judge the text of a kernel, with the text of its case, by the host way: "Right ...", or "Not yet: ...".

    The kernel must be right at the case's sizes, be compiled for a GPU, and race with nobody. The case must be able to
    refuse: a kernel that does nothing, one that writes one number everywhere, and one whose numbers are wrong by a
    tenth may not pass.
    """
    if not (isinstance(kernel, str) and isinstance(case, str)):
        return "Not yet: the kernel and its case are two texts."
    with tempfile.TemporaryDirectory() as folder:
        mine, given = Path(folder, "mine.cu"), Path(folder, "mine_case.py")
        mine.write_text(kernel, encoding="utf-8")
        given.write_text(case, encoding="utf-8")
        try:
            problem = _problem(own_kernel.read(mine, given, TIMEOUT))
        except checking.CheckFailure as failure:
            problem = str(failure).splitlines()[0]
        except (kernels.InputError, building.BuildError, RuntimeError) as error:
            return checking.not_yet(error)
    return problem if problem.startswith("Right") else f"Not yet: {problem}"


def _problem(case: Case) -> str:
    """Return what is wrong first, or "Right ..."."""
    ways = case.ways(["host"])
    if why := ways.missing.get("host"):
        return checking.not_yet(RuntimeError(why)).removeprefix("Not yet: ")
    sizes = ways.sizes or checking.SIZES
    questions = [ways.question(size) for size in sizes]
    stand_ins: dict[str, StandIn] = {
        "that does nothing passes at all sizes: choose inputs that the kernel must change.": _nothing,
        "that writes one number everywhere passes at all sizes: choose inputs with different answers.": _one_number(
            questions
        ),
        "whose numbers are wrong by a tenth passes: rtol or atol is too wide.": _a_tenth_more,
    }
    for what, stand_in in stand_ins.items():
        if all(checking.verdict(stand_in(question), "host", *question) is None for question in questions):
            return f"with this case a kernel {what}"
    checking.check(ways)
    line, is_compiled = own_kernel.on_a_gpu(case.source)
    if not is_compiled:
        return f"right on the CPU, but: {line}"
    races = search(case)
    if races not in (CLEAN, NO_SEARCH):
        return f"right, but {races.splitlines()[0]}"
    at = f"{len(sizes)} sizes, from {min(sizes):,} to {max(sizes):,}" if sizes[1:] else f"size {sizes[0]:,}"
    return f"Right at {at}; {races}."


def _writing(contents: Sequence[Any]) -> Callable[..., None]:
    """Return a function that writes these contents into its last arguments."""

    def write(*values: Any) -> None:
        for output, content in zip(values[-len(contents) :], contents, strict=True):
            output[...] = content

    return write


def _nothing(_: Any) -> Callable[..., None]:
    return lambda *values: None


def _one_number(questions: Sequence[Any]) -> StandIn:
    """Return what writes the last right number of the largest question into every element."""
    largest = max(questions, key=lambda question: int(question[0][0]))
    return lambda _: _writing([right.ravel()[-1] if right.size else 0 for right in largest[1].values()])


def _a_tenth_more(question: Any) -> Callable[..., None]:
    """Return what writes 1.1 times the right numbers, or twice the right integers."""

    def wrong(right: np.ndarray) -> np.ndarray:
        if right.dtype.names:
            several = right.copy()
            for name in right.dtype.names:
                several[name] = wrong(right[name])
            return several
        if right.dtype.kind == "b":
            return ~right
        with np.errstate(over="ignore"):
            return right * right.dtype.type(1.1) if right.dtype.kind in "fc" else right + right

    return _writing([wrong(right) for right in question[1].values()])
