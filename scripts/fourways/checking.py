"""Is this way's answer right? Fresh poisoned outputs, awkward sizes, guarded edges; NaN never passes."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from fourways.lesson import Ways
from fourways.tables import Row, Table

SIZES = (0, 1, 31, 32, 33, 255, 256, 257, 1009, 65_537, 1_000_003)
"""Sizes that break a kernel with a wrong tail: nothing, one, around a warp, around a block, primes, many blocks."""

_GUARD = 64  # elements kept on either side of an output; a multiple of 256 bytes for float32, so alignment stays


class CheckFailure(AssertionError):
    """A way gave a wrong answer. The message says which way, which size, which element, what came and what should."""


def poison(dtype: Any) -> Any:
    """The value an output holds before a way runs: NaN for floats, the smallest integer (unsigned: the largest).

    Raises TypeError for dtypes without a value that no right answer has, such as bool.
    """
    dtype = np.dtype(dtype)
    if dtype.kind in "fc":
        return dtype.type(np.nan)
    if dtype.kind not in "iu":
        raise TypeError(f"an output of dtype {dtype} cannot be poisoned; wanted floats, complex numbers or integers")
    return np.iinfo(dtype).min or np.iinfo(dtype).max


def place(way: str, value: Any) -> Any:
    """`value` where the way wants it: for "host" as it is; for any other way, or "gpu", NumPy arrays go to the GPU."""
    if way == "host" or not isinstance(value, np.ndarray):
        return value
    import cupy

    return cupy.asarray(value)


def fetch(array: Any) -> np.ndarray:
    """A NumPy copy of a NumPy or CuPy array (this waits for the GPU)."""
    return array.get() if hasattr(array, "get") else array.copy()


def verdict(
    function: Callable[..., None], way: str, inputs: tuple, expected: np.ndarray, rtol: float = 0.0
) -> str | None:
    """Run `function(*inputs, output)` once on a poisoned output and say what is wrong, or None if all is right.

    `way` says where its arrays lie, as for `place`. `inputs` are NumPy arrays and scalars; `expected` is the reference
    result, whose shape and dtype the output gets. Also wrong: a changed input, a write outside the output.
    """
    fresh = np.full(expected.size + 2 * _GUARD, poison(expected.dtype), expected.dtype)
    inside = slice(_GUARD, _GUARD + expected.size)
    padded = place(way, fresh.copy())
    placed = [place(way, value.copy() if isinstance(value, np.ndarray) else value) for value in inputs]
    function(*placed, padded[inside].reshape(expected.shape))
    whole = fetch(padded)
    if problem := compare(whole[inside].reshape(expected.shape), expected, rtol):
        return problem
    whole[inside] = poison(expected.dtype)
    if not np.array_equal(whole, fresh, equal_nan=True):
        return "wrote outside the output array"
    for number, (before, after) in enumerate(zip(inputs, placed, strict=True)):
        if isinstance(before, np.ndarray) and not np.array_equal(before, fetch(after), equal_nan=True):
            return f"changed its input number {number}"
    return None


def compare(got: np.ndarray, expected: np.ndarray, rtol: float = 0.0) -> str | None:
    """Say where `got` differs from `expected` by more than `rtol` times its size, or None. NaN always differs."""
    if got.shape != expected.shape:
        return f"shape {got.shape}, expected {expected.shape}"
    different = np.asarray(got != expected)  # always true of NaN
    if rtol and different.any():
        a, b = got[different], expected[different]
        with np.errstate(invalid="ignore", over="ignore"):
            exact = np.result_type(got, np.float64)
            different[different] = ~(np.abs(np.subtract(a, b, dtype=exact)) <= rtol * np.abs(b))
    if not different.any():
        return None
    wrong = np.argwhere(different)
    first = tuple(wrong[0].tolist())
    where = first[0] if len(first) == 1 else first
    hint = " (never written: it still holds the poison)" if got.dtype.kind == "f" and np.isnan(got[first]) else ""
    return f"element {where} is {got[first]!s}{hint}, expected {expected[first]!s}; {len(wrong)} of {got.size} wrong"


def exercise(
    function: Callable[..., None],
    make_inputs: Callable[[int], tuple],
    reference: Callable,
    way: str = "host",
    sizes: Iterable[int] = SIZES,
    rtol: float = 0.0,
) -> bool:
    """Try a learner's `function(*inputs, output)` at every size, and return whether it is right at all of them.

    Prints the first thing that is wrong: size and element, what came and what was expected, or the exception.
    `make_inputs`, `reference` and `rtol` are as in a lesson; `way` says where the arrays lie: in NumPy for "host",
    else on the GPU.
    """
    sizes = tuple(sizes)
    for size in sizes:
        inputs = make_inputs(size)
        try:
            problem = verdict(function, way, inputs, reference(*inputs), rtol)
        except Exception as error:
            problem = f"it raised {type(error).__name__}: {error}"
        if problem:
            print(f"Not yet. Size {size}: {problem}")
            return False
    print(f"Right at {len(sizes)} sizes, from {min(sizes)} to {max(sizes)}.")
    return True


def check(ways: Ways, sizes: Iterable[int] = SIZES) -> Table:
    """Check every way that can run here at every size against the reference, and return the outcomes as a table.

    Raises CheckFailure after all have run, naming each wrong way with its first wrong size and element.
    """
    sizes = tuple(sizes)
    cases = [(size, inputs := ways.make_inputs(size), ways.reference(*inputs)) for size in sizes]
    rows: list[Row] = []
    problems = []
    for way, function in ways.runnable.items():
        outcome = "right"
        for size, inputs, expected in cases:
            if problem := verdict(function, way, inputs, expected, ways.rtol):
                outcome = f"{ways.kernel}_{way}, size {size}: {problem}"
                problems.append(outcome)
                break
        rows.append({"way": way, "sizes": len(sizes), "outcome": outcome})
    rows += [{"way": way, "sizes": 0, "outcome": f"not run: {why}"} for way, why in ways.missing.items()]
    if problems:
        raise CheckFailure("\n".join(problems))
    if not ways.runnable:
        raise CheckFailure(f"no way of {ways.kernel} can run here, so nothing was checked")
    columns = [
        ("way", lambda row: row["way"]),
        ("sizes checked", lambda row: str(row["sizes"])),
        ("outcome", lambda row: row["outcome"]),
    ]
    return Table("check", rows, columns)
