"""The verdict on one call, in words, and what judges of exercises say of a number or an error."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fourways.checking.arrays import BESIDE_AN_INPUT, BESIDE_AN_OUTPUT, Expected, Guarded, fresh_outputs, poison, same
from fourways.tables import Row
from fourways.ways import is_host

_WRITE = "the answer belongs into the last argument"
_LOST = """This process's GPU context is lost with it, and no way can use the GPU any more: mend the kernel, and start
Python anew (in Jupyter: restart the kernel). On the CPU, the way "host" says which thread touches what."""


class CheckFailure(AssertionError):
    """A way gave a wrong answer. The message says which way, which size, which element, what came and what should.

    `rows` are those of the table that `check` would have returned.
    """

    def __init__(self, words: str, rows: Sequence[Row] = ()) -> None:
        super().__init__(words)
        self.rows = rows


class GpuLost(CheckFailure):
    """A way ended this process's use of the GPU: an illegal address, a trap or the like. Every later call fails."""


def verdict(
    function: Callable[..., Any],
    way: str,
    inputs: tuple,
    expected: Expected,
    rtol: float = 0.0,
    in_place: Mapping[int, int] = {},
    atol: float = 0.0,
) -> str | None:
    """Run `function(*inputs, *outputs)` once on poisoned outputs and say what is wrong, or None if all is right.

    `way` says where its arrays lie, as for `place`. `inputs` are NumPy arrays and scalars; `expected` is the reference
    result, whose shape and dtype the output gets; of several outputs a mapping, by name. `in_place` is as for
    `fresh_outputs`. Also wrong: a changed input, a write beside an array.
    Raises GpuLost where the GPU can do nothing more in this process; what the function raises itself, otherwise.
    """
    fresh = fresh_outputs(inputs, expected, in_place)
    try:
        placed = [
            Guarded(way, value, BESIDE_AN_INPUT if number < len(inputs) else BESIDE_AN_OUTPUT)
            if isinstance(value, np.ndarray)
            else value
            for number, value in enumerate((*inputs, *fresh))
        ]
        returned = function(*(each.array if isinstance(each, Guarded) else each for each in placed))
        after = [each.fetched() if isinstance(each, Guarded) else each for each in placed]
    except Exception as error:
        if not is_host(way) and _gpu_is_lost():
            raise GpuLost(f"{type(error).__name__}: {str(error).strip()}\n{_LOST}") from error
        raise
    arrays = [number for number, value in enumerate(inputs) if isinstance(value, np.ndarray)]
    changed = [f"changed {_input(number, expected)}" for number in arrays if not same(after[number], inputs[number])]
    got = after[len(inputs) :]
    problem = compare_all(got, expected, rtol, atol)
    if problem and all(map(same, got, fresh)):
        if returned is not None:
            return f"it returned a value, and wrote nothing into its output: {_WRITE}"
        if changed:
            return f"it {changed[0]} and wrote nothing into its output: are two arguments swapped?"
        return f"{problem}; nothing was written: {_WRITE}"
    return _outside(placed, len(inputs), expected) or problem or next(iter(changed), None)


def _outside(placed: Sequence[Any], inputs: int, expected: Expected) -> str | None:
    names = [_input(number, expected) for number in range(inputs)]
    names += [f"the output array {name}".strip() for name in (expected if isinstance(expected, Mapping) else [""])]
    for name, each in zip(names, placed, strict=True):
        if isinstance(each, Guarded) and (where := each.written_beside()):
            return f"wrote outside {name}: {where}"
    return None


def _input(number: int, expected: Expected) -> str:
    """Name an input: by `expected.inputs`, which the right outputs of a case have, or by its number."""
    names = getattr(expected, "inputs", None)
    return f"its argument {names[number]}" if names else f"its input number {number}"


def _gpu_is_lost() -> bool:
    """Whether an illegal address, a trap or the like has ended this process's context: then every call fails."""
    import cupy

    try:
        cupy.cuda.runtime.deviceSynchronize()
    except cupy.cuda.runtime.CUDARuntimeError:
        return True
    return False


def compare_all(got: Sequence[np.ndarray], expected: Expected, rtol: float = 0.0, atol: float = 0.0) -> str | None:
    """`compare` for the outputs of a call, in their order; of several the first that differs, by its name.

    If `expected` has an attribute `same`, as the right outputs of a case may, that function judges instead.
    """
    if not isinstance(expected, Mapping):
        return compare(got[0], expected, rtol, atol)
    if same := getattr(expected, "same", None):
        return _judged(same(dict(zip(expected, got, strict=True)), dict(expected)))
    for array, (name, right) in zip(got, expected.items(), strict=True):
        if problem := compare(array, right, rtol, atol):
            return f"{name}: {problem}" if len(expected) > 1 else problem
    return None


def _judged(answer: Any) -> str | None:
    """What is wrong by the answer of a case's `same`: True or None is right, False or a message is wrong."""
    if answer is None or isinstance(answer, str):
        return answer or None
    return None if answer else "same(got, right) returned False"


def compare(got: np.ndarray, expected: np.ndarray, rtol: float = 0.0, atol: float = 0.0) -> str | None:
    """Say where `got` is more than `atol + rtol * abs(expected)`, or for integers `atol`, from `expected`, or None."""
    if got.shape != expected.shape:
        return f"shape {got.shape}, expected {expected.shape}"
    for field in expected.dtype.names or ():  # compare a structure's fields, not its gaps
        if problem := compare(got[field], expected[field], rtol, atol):
            return f"field {field}: {problem}"
    if expected.dtype.names:
        return None
    if got.dtype.kind in "biu" and expected.dtype.kind in "biu":
        rtol = 0.0
    different = np.asarray(got != expected)  # always true of NaN, which is never right
    if (rtol or atol) and expected.dtype.kind != "V" and different.any():
        a, b = got[different], expected[different]
        with np.errstate(invalid="ignore", over="ignore"):
            exact = np.result_type(got, np.float64)
            near = np.abs(np.subtract(a, b, dtype=exact)) <= atol + rtol * np.abs(b)
            different[different] = ~(near & np.isfinite(b))  # everything is near to infinity times rtol
    if not different.any():
        return None
    wrong = np.argwhere(different)
    first = tuple(wrong[0].tolist())
    where = first[0] if len(first) == 1 else first
    near = f" (tolerance rtol={rtol:g}, atol={atol:g})" if rtol or atol else ""
    hint = ""
    if got.dtype.kind == "f" and np.isnan(got[first]):
        untouched = got[first].tobytes() == poison(got.dtype).tobytes()  # a NaN that was computed has other bits
        hint = "never written: it still holds the poison" if untouched else "computed, or read beyond an array's end"
        hint = f" ({hint})"
    elif got.dtype.kind in "iu" and got[first] == poison(got.dtype):
        hint = " (what stood there before: never written?)"
    told = f"element {where} is {got[first]!s}{hint}, expected {expected[first]!s}"
    return f"{told}; {len(wrong)} of {got.size} wrong{near}"


def not_yet(error: Exception) -> str:
    """Return "Not yet: " and the line of a compiler's or a kernel's error that says what is wrong."""
    lines = str(error).splitlines() or [type(error).__name__]
    told = (line for line in lines if "must be extern" in line or "error: " in line)
    return f"Not yet: {next(told, lines[0]).rpartition('error: ')[2]}"
