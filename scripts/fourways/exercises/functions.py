"""A learner's function beside the right one, on cases that are drawn at random."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from fourways import checking, host

Answer = Callable[..., Any]
_WHOLE = 12  # elements of an array that is shown whole


def same(
    answer: Answer, right: Answer, draw: Callable[[], tuple], cases: int = 20, rtol: float = 0.0, hint: str = ""
) -> str:
    """Compare `answer(*arguments)` with `right(*arguments)` for `cases` tuples of arguments, each made by `draw()`.

    Both get copies. Numbers, sequences and arrays of any dtype are compared by element, to the tolerance `rtol`.
    Returns "Right for 20 cases.", or "Not yet: …" with the first case that differs, and the hint.
    """
    for _ in range(cases):
        arguments = draw()
        call = f"{getattr(answer, '__name__', 'your function')}({', '.join(map(_shown, arguments))})"
        expected = right(*copy.deepcopy(arguments))
        try:
            came = answer(*copy.deepcopy(arguments))
        except Exception as error:
            why = checking.not_yet(error).removeprefix("Not yet: ")
            return f"Not yet: {call} raised {type(error).__name__}: {why}"
        if told := _difference(came, expected, rtol):
            return f"Not yet: {call} returned {told}. {hint}".strip()
    return f"Right for {cases} cases."


def run_kernel(text: str, name: str, grid: tuple, block: tuple, *arguments: Any, **options: Any) -> None:
    """Compile a text by the host way, with `options` of `host.compile`, and launch one of its kernels."""
    host.compile(text, timeout=10, **options).get_function(name)(grid, block, arguments)


def _shown(value: Any) -> str:
    with np.printoptions(threshold=_WHOLE, edgeitems=2, precision=6, legacy="1.25"):
        words = " ".join(repr(value).split())
    return words if len(words) <= 100 else f"{words[:97]}…"


def _difference(came: Any, expected: Any, rtol: float) -> str | None:
    """Return what came and what was expected, of large arrays for the first element that differs; None if equal."""
    told = f"{_shown(came)}; expected {_shown(expected)}"
    if expected is None or isinstance(expected, str | dict):
        return None if type(came) is type(expected) and came == expected else told
    try:
        came, expected = np.asarray(came), np.asarray(expected)
    except ValueError:  # a ragged list
        return told
    if came.dtype.kind not in "iufbc":
        return told
    problem = checking.compare(came, expected, rtol)
    return f"another array: {problem}" if problem and expected.size > _WHOLE else problem and told
