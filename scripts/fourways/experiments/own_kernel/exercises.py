"""The judge of the page's exercise: a kernel of the learner's own, with its case."""

import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fourways import building, checking, host, kernels, sass
from fourways.case import Case, on_a_gpu
from fourways.experiments.own_kernel.cases import CLEAN, NO_SEARCH, TIMEOUT, search

_LAUNCHES = re.compile(r"\b(?:__global__|RawKernel|RawModule|SourceModule)\b")
StandIn = Callable[[Any], Callable[..., None]]
"""A question's function in the kernel's place."""


def judge(kernel: str, case: str, known: str) -> str:
    """Judge the text of a kernel, with the text of its case, by the host way; `known` is a kernel not to be copied.

    Returns "Right …", or "Not yet: …" and what is wrong first. The kernel must be right at the case's sizes, be
    compiled by a GPU's compiler into other machine code than `known`, and race with nobody. The case must be able to
    refuse: its reference must not launch a kernel, and must depend on the inputs. A kernel that does nothing, one that
    writes the same number everywhere, and one whose numbers are wrong by a tenth may not pass. Unless the case has a
    `launch`, some size must need several blocks, so that one without `blockIdx` may not pass either. A race is refused
    even where all writes agree.
    """
    if not (isinstance(kernel, str) and isinstance(case, str)):
        return "Not yet: the kernel and its case are two texts."
    if len(names := kernels.parameters(kernel)) > 1:
        return f"Not yet: the text holds {len(names)} kernels ({', '.join(names)}); the judge takes one."
    with tempfile.TemporaryDirectory() as folder:
        files = {Path(folder, "mine.cu"): kernel, Path(folder, "mine_case.py"): case, Path(folder, "known.cu"): known}
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
        mine, given, other = files
        try:
            launched: list[Any] = []
            with host.noting(lambda *launch: launched.append(launch)):
                problem = _refusal(Case.load(mine, case=given, timeout=TIMEOUT), other, launched)
        except (kernels.InputError, building.BuildError, sass.SassError, RuntimeError) as error:
            return checking.not_yet(error)
    return problem if problem.startswith("Right") else f"Not yet: {problem}"


def _refusal(case: Case, known: Path, launched: list[Any]) -> str:
    """Return what is wrong first, or "Right …". `launched` has an element for each launch by the host way so far."""
    if not case.has_reference:
        return "the case has no reference, so the kernel would judge itself."
    ways = case.ways(["host"])
    if "host" in ways.missing:
        why = checking.not_yet(building.BuildError(ways.missing["host"]))
        return f"it cannot run on the CPU: {why.removeprefix('Not yet: ')}"
    questions = [ways.question(size) for size in ways.sizes or checking.SIZES]
    if launched or (case.file and _LAUNCHES.search(case.file.read_text(encoding="utf-8"))):
        return "the reference runs a kernel. Let it compute the answer by NumPy alone."
    if _passes(lambda _: lambda *values: None, questions):
        return "a kernel that does nothing passes this case, at all its sizes."
    varied, is_constant = _varied(case, questions)
    if is_constant:
        return "the reference gives the same answer whatever the inputs hold."
    same_everywhere = _same_everywhere(questions)
    stand_ins: dict[str, StandIn] = {
        "that writes one and the same number everywhere passes this case, at all its sizes.": lambda _: same_everywhere,
        "whose numbers are wrong by a tenth passes this case: its rtol or atol is too wide.": _wrong_by_a_tenth,
    }
    for what, stand_in in stand_ins.items():
        if _passes(stand_in, questions) and not _tells_apart(stand_in, ways.functions["host"], varied):
            return f"a kernel {what}"
    try:
        checking.check(ways)
    except checking.CheckFailure as failure:
        return str(failure).splitlines()[0]
    if not case.has_launch and all(shape[:3] == [1, 1, 1] for _, shape in launched):
        return "the case's sizes fill one block only, so blocks are not tried. Add a size above 256."
    note, refusal = on_a_gpu(case)
    if note or refusal:
        return refusal or note or ""
    if _is_copy(case, known):
        return "it compiles to the machine code of this page's kernel. Write one of your own."
    races = search(case)
    if races not in (CLEAN, NO_SEARCH):
        return f"right, but {races.splitlines()[0]}"
    sizes = ways.sizes or checking.SIZES
    at = f"{len(sizes)} sizes, from {min(sizes):,} to {max(sizes):,}" if sizes[1:] else f"size {sizes[0]:,}"
    return f"Right at {at}; {races}."


def _passes(stand_in: StandIn, questions: Sequence[Any]) -> bool:
    """Return whether a function in the kernel's place is right at every size."""
    return all(checking.verdict(stand_in(question), "host", *question) is None for question in questions)


def _fill(outputs: Sequence[np.ndarray], contents: Sequence[Any]) -> None:
    for output, content in zip(outputs, contents, strict=True):
        output[...] = content


def _wrong_by_a_tenth(question: Any) -> Callable[..., None]:
    """Return a function that writes 1.1 times the right numbers, or twice the right integers."""
    contents = [_a_tenth_more(right) for right in question[1].values()]
    return lambda *values: _fill(values[-len(contents) :], contents)


def _a_tenth_more(right: np.ndarray) -> np.ndarray:
    if right.dtype.names:
        wrong = right.copy()
        for name in right.dtype.names:
            wrong[name] = _a_tenth_more(right[name])
        return wrong
    if right.dtype.kind == "b":
        return ~right
    with np.errstate(over="ignore"):
        return right * right.dtype.type(1.1) if right.dtype.kind in "fc" else right + right


def _same_everywhere(questions: Sequence[Any]) -> Callable[..., None]:
    """Return a function that fills each output with the number in the middle between its least and its greatest."""
    expected = [question[1] for question in questions]
    middles = []
    for name in expected[0]:
        numbers = np.concatenate([right[name].ravel() for right in expected])
        middles.append(numbers[-1:])
        if numbers.size and numbers.dtype.kind in "fiu":
            least, greatest = numbers.min(), numbers.max()
            with np.errstate(all="ignore"):
                middles[-1] = least if least == greatest else numbers.dtype.type(least / 2 + greatest / 2)
    return lambda *values: _fill(values[-len(middles) :], middles)


def _tells_apart(wrong: StandIn, right: Callable[..., None], questions: Sequence[Any]) -> bool:
    """Return whether the questions that the kernel can be asked refuse a stand-in, and pass the kernel."""
    asked = [question for question in questions if _runs(right, question)]
    return not _passes(wrong, asked) and _passes(lambda _: right, asked)


def _runs(function: Callable[..., None], question: Any) -> bool:
    """Return whether a call ends without an error, right or wrong. A changed integer may lead beyond an array."""
    try:
        checking.verdict(function, "host", *question)
    except Exception:
        return False
    return True


def _varied(case: Case, questions: Sequence[Any]) -> tuple[list[Any], bool]:
    """Return a small question with an input changed, as often as the answer differs; and whether it never does.

    An answer that the reference refuses to give differs, too. Without an array or a number among the inputs, the answer
    cannot differ.
    """
    question = next((each for each in reversed(questions) if 0 < each[0][0] < 2000), questions[-1])
    inputs, expected, *rest = question
    varied, others, refused = [], 0, False
    for number, value in enumerate(inputs[1:], 1):
        for other in _others(value):
            others += 1
            values = (*inputs[:number], other, *inputs[number + 1 :])
            try:
                with np.errstate(all="ignore"):
                    answer = case.reference(*values)
            except Exception:
                refused = True
            else:
                if not all(map(checking.same, answer.values(), expected.values())):
                    varied.append((values, answer, *rest))
    return varied, bool(others) and not (varied or refused)


def _others(value: Any) -> list[Any]:
    """Return other values for an input: an array reversed, filled with an element, or with 0; another number."""
    if isinstance(value, np.ndarray) and value.size:
        flat = value.ravel()
        filled = (np.full_like(flat, flat[place]) for place in (0, -1))
        return [each.reshape(value.shape) for each in (flat[::-1].copy(), *filled, np.zeros_like(flat))]
    if isinstance(value, np.integer):
        with np.errstate(over="ignore"):
            return [value + value.dtype.type(1)]
    return [value.dtype.type(2 * value + 1)] if isinstance(value, np.floating) else []


def _is_copy(case: Case, known: Path) -> bool:
    """Return whether NVRTC, or nvcc where NVRTC refuses the kernel, makes the same machine code of both."""
    for way in ("nvrtc", "nvcc"):
        try:
            mine, other = (sass.listing(path, way, case.options) for path in (case.path, known))
            return list(map(str, mine)) == list(map(str, other))
        except building.BuildError:
            continue
    return False
