"""A learner's function beside the right one, on cases that are drawn at random."""

from collections.abc import Callable
from typing import Any

import numpy as np


def same(
    answer: Callable[..., Any],
    right: Callable[..., Any],
    draw: Callable[[], tuple],
    cases: int = 20,
    rtol: float = 0.0,
    hint: Callable[[Any, Any], str] = lambda came, expected: "",
) -> str:
    """Compare `answer(*arguments)` with `right(*arguments)` for `cases` tuples of arguments, each made by `draw()`.

    Both get copies, so a function that changes its arguments harms nobody. Numbers, sequences and arrays are compared
    element by element, to the relative tolerance `rtol`, whatever their dtypes. `hint(came, expected)` may add a
    sentence. Returns "Right for 20 cases.", or "Not yet: …" with the first case that differs.
    """
    for _ in range(cases):
        arguments = draw()
        call = f"{getattr(answer, '__name__', 'your function')}({', '.join(map(_shown, arguments))})"
        expected = right(*map(_copied, arguments))
        try:
            came = answer(*map(_copied, arguments))
        except Exception as error:
            return f"Not yet: {call} raised {type(error).__name__}: {error}"
        if not _equal(came, expected, rtol):
            words = f"Not yet: {call} returned {_shown(came)}; expected {_shown(expected)}. {hint(came, expected)}"
            return words.strip()
    return f"Right for {cases} cases."


def _shown(value: Any) -> str:
    """Return a value in few words: arrays with dtype, shape and first elements, long texts cut."""
    if isinstance(value, np.ndarray):
        first = ", ".join(f"{each}" for each in value.ravel()[:4])
        return f"{value.dtype}{list(value.shape)} [{first}{', …' if value.size > 4 else ''}]"
    if isinstance(value, np.generic):
        return f"{value}"
    words = repr(value)
    return words if len(words) <= 80 else f"{words[:77]}…"


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def _equal(came: Any, expected: Any, rtol: float) -> bool:
    if expected is None or isinstance(expected, str | dict):
        return type(came) is type(expected) and bool(came == expected)
    try:
        came, expected = np.asarray(came), np.asarray(expected)
    except ValueError:  # a ragged list
        return False
    if came.shape != expected.shape or came.dtype.kind not in "iufbc":
        return False
    return bool(np.allclose(came, expected, rtol=rtol, atol=0) if rtol else np.array_equal(came, expected))
