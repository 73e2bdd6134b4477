"""The verdict on one call, a check of all ways at awkward sizes, and the same for a learner's exercise."""

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from fourways.lesson import Ways, is_host
from fourways.tables import Row, Table

SIZES = (0, 1, 31, 32, 33, 255, 256, 257, 1009, 65_537, 1_000_003)
"""Sizes that break a kernel with a wrong tail: nothing, one, around a warp, around a block, primes, many blocks."""

_GUARD = 4096  # elements on either side of an array: more than a few blocks too many write, and arrays stay aligned

# Beside an output, and beside an input: all NaN for floats, yet a kernel that copies too much is seen.
_POISON, _OTHER_POISON = b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f"

Expected = np.ndarray | Mapping[str, np.ndarray]
NONE: Mapping[int, int] = {}

_WRITE = "y[...] = value writes into y; y = value makes another y"
_LOST = """This process's GPU context is lost with it, and no way can use the GPU any more: mend the kernel, and start
Python anew (in Jupyter: restart the kernel). On the CPU, the way "host" says which thread touches what."""


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
    if is_host(way) or not isinstance(value, np.ndarray):
        return value
    import cupy

    return cupy.asarray(value)


def fetch(array: Any) -> np.ndarray:
    """A NumPy copy of a NumPy or CuPy array (this waits for the GPU)."""
    return array.get() if hasattr(array, "get") else array.copy()


def fresh_outputs(inputs: tuple, expected: Expected, in_place: Mapping[int, int] = NONE) -> list[np.ndarray]:
    """The outputs before a call: of the shapes and dtypes of `expected`, poisoned.

    Those that `in_place` names by their number hold what the input of the number beside it holds.
    """
    outputs = as_list(expected)
    return [np.array(inputs[in_place[i]]) if i in in_place else _poisoned(right) for i, right in enumerate(outputs)]


def _poisoned(right: np.ndarray) -> np.ndarray:
    """An array like `right`, none of whose elements is right; a structure's fields may be."""
    if right.dtype.kind == "b":
        return ~right
    if right.dtype.kind != "V":
        return np.full(right.shape, poison(right.dtype), right.dtype)
    octets = np.full(right.nbytes, 255, np.uint8)
    return octets.view(right.dtype).reshape(right.shape)


def as_list(expected: Expected) -> list[np.ndarray]:
    """The expected outputs in their order: one array is one, a mapping holds them by name."""
    return list(expected.values()) if isinstance(expected, Mapping) else [expected]


def verdict(
    function: Callable[..., Any],
    way: str,
    inputs: tuple,
    expected: Expected,
    rtol: float = 0.0,
    in_place: Mapping[int, int] = NONE,
    atol: float = 0.0,
) -> str | None:
    """Run `function(*inputs, *outputs)` once on poisoned outputs and say what is wrong, or None if all is right.

    `way` says where its arrays lie, as for `place`. `inputs` are NumPy arrays and scalars; `expected` is the reference
    result, whose shape and dtype the output gets; of several outputs a mapping, by name. `in_place` is as for
    `fresh_outputs`. Also wrong: a changed input, a write beside an array.
    Raises CheckFailure where the GPU can do nothing more in this process; what the function raises itself, otherwise.
    """
    fresh = fresh_outputs(inputs, expected, in_place)
    try:
        placed = [
            _Guarded(way, value, _OTHER_POISON if number < len(inputs) else _POISON)
            if isinstance(value, np.ndarray)
            else value
            for number, value in enumerate((*inputs, *fresh))
        ]
        returned = function(*(each.array if isinstance(each, _Guarded) else each for each in placed))
        after = [each.fetched() if isinstance(each, _Guarded) else each for each in placed]
    except Exception as error:
        if not is_host(way) and _gpu_is_lost():
            raise CheckFailure(f"{type(error).__name__}: {str(error).strip()}\n{_LOST}") from error
        raise
    arrays = [number for number, value in enumerate(inputs) if isinstance(value, np.ndarray)]
    changed = next((number for number in arrays if not _same(after[number], inputs[number])), None)
    got = after[len(inputs) :]
    problem = compare_all(got, expected, rtol, atol)
    if problem and all(map(_same, got, fresh)):
        if returned is not None:
            return f"it returned a value, and wrote nothing into its output: {_WRITE}"
        if changed is not None:
            return (
                f"it changed its input number {changed} and wrote nothing into its output: are two arguments swapped?"
            )
        return f"{problem}; nothing was written: {_WRITE}"
    names = [f"its input number {number}" for number in range(len(inputs))]
    names += (
        [f"the output array {name}" for name in expected] if isinstance(expected, Mapping) else ["the output array"]
    )
    for name, each in zip(names, placed, strict=True):
        if isinstance(each, _Guarded) and (where := each.written_beside()):
            return f"wrote outside {name}: {where}"
    return problem or (None if changed is None else f"changed its input number {changed}")


def _gpu_is_lost() -> bool:
    """Whether an illegal address, a trap or the like has ended this process's context: then every call fails."""
    import cupy

    try:
        cupy.cuda.runtime.deviceSynchronize()
    except cupy.cuda.runtime.CUDARuntimeError:
        return True
    return False


class _Guarded:
    """A copy of an array where the way wants it, and on either side `poison`, repeated, where nobody may write."""

    def __init__(self, way: str, value: np.ndarray, poison: bytes):
        self._guard, self._size = _GUARD * value.itemsize, value.nbytes
        self._dtype, self._shape = value.dtype, value.shape
        self._beside = np.frombuffer(poison * (self._guard // len(poison)), np.uint8)
        whole = np.empty(self._size + 2 * self._guard, np.uint8)
        whole[: self._guard] = whole[self._guard + self._size :] = self._beside
        whole[self._inside] = _octets(value)
        self._whole = place(way, whole)
        self.array = self._view(self._whole)

    @property
    def _inside(self) -> slice:
        return slice(self._guard, self._guard + self._size)

    def _view(self, whole: Any) -> Any:
        return whole[self._inside].view(self._dtype).reshape(self._shape)

    def fetched(self) -> np.ndarray:
        """The array as it is now, in NumPy."""
        self._whole = fetch(self._whole)
        return self._view(self._whole)

    def written_beside(self) -> str | None:
        """The first element beside the array that somebody wrote, in words; after `fetched`."""
        end = self._guard + self._size
        for start, side in ((0, self._whole[: self._guard]), (end, self._whole[end:])):
            if (changed := side != self._beside).any():
                element = (start + int(changed.argmax()) - self._guard) // self._dtype.itemsize
                return f"element {element} of {self._size // self._dtype.itemsize}"
        return None


def _octets(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _same(after: np.ndarray, before: np.ndarray) -> bool:
    """Bit for bit."""
    words = np.uint8 if after.nbytes % 8 else np.uint64  # NumPy makes a bool for each: few for large arrays
    return np.array_equal(_octets(after).view(words), _octets(before).view(words))


def compare_all(got: Sequence[np.ndarray], expected: Expected, rtol: float = 0.0, atol: float = 0.0) -> str | None:
    """`compare` for the outputs of a call, in their order; of several the first that differs, by its name."""
    if not isinstance(expected, Mapping):
        return compare(got[0], expected, rtol, atol)
    for array, (name, right) in zip(got, expected.items(), strict=True):
        if problem := compare(array, right, rtol, atol):
            return f"{name}: {problem}" if len(expected) > 1 else problem
    return None


def compare(got: np.ndarray, expected: np.ndarray, rtol: float = 0.0, atol: float = 0.0) -> str | None:
    """Say where `got` is farther from `expected` than `atol + rtol * abs(expected)`, or None. NaN always differs."""
    if got.shape != expected.shape:
        return f"shape {got.shape}, expected {expected.shape}"
    for field in expected.dtype.names or ():  # of structures: what stands in their gaps does not matter
        if problem := compare(got[field], expected[field], rtol, atol):
            return f"field {field}: {problem}"
    if expected.dtype.names:
        return None
    different = np.asarray(got != expected)  # always true of NaN
    if (rtol or atol) and expected.dtype.kind != "V" and different.any():
        a, b = got[different], expected[different]
        with np.errstate(invalid="ignore", over="ignore"):
            exact = np.result_type(got, np.float64)
            near = np.abs(np.subtract(a, b, dtype=exact)) <= atol + rtol * np.abs(b)
            different[different] = ~(near & np.isfinite(b))  # all is near to infinity times rtol
    if not different.any():
        return None
    wrong = np.argwhere(different)
    first = tuple(wrong[0].tolist())
    where = first[0] if len(first) == 1 else first
    hint = ""
    if got.dtype.kind == "f" and np.isnan(got[first]):
        hint = " (never written: it still holds the poison)"
    elif got.dtype.kind in "iu" and got[first] == poison(got.dtype):
        hint = " (what stood there before: never written?)"
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
        expected = reference(*inputs)
        try:
            problem = verdict(function, way, inputs, expected, rtol)
        except CheckFailure as failure:
            problem = str(failure)
        except Exception as error:
            problem = f"it raised {type(error).__name__}: {error}"
            if isinstance(error, TypeError | ValueError):  # two arguments swapped, or one forgotten
                problem += (
                    f"\nIt was called with {', '.join(map(_kind, inputs))}, and {_kind(expected)} for the answer."
                )
        if problem:
            print(f"Not yet. Size {size}: {problem}")
            return False
    print(f"Right at {len(sizes)} sizes, from {min(sizes)} to {max(sizes)}.")
    return True


def _kind(value: Any) -> str:
    shape = f" {value.shape}" if isinstance(value, np.ndarray) else ""
    return f"{value.dtype if hasattr(value, 'dtype') else type(value).__name__}{shape}"


def check(ways: Ways, sizes: Iterable[int] = (), timeout: int | None = None) -> Table:
    """Check every way that can run here at every size against the reference, and return the outcomes as a table.

    The sizes are by default the ways' own, or else SIZES. Raises CheckFailure after all have run, naming each wrong way
    with its first wrong size and element; at once where the GPU can do nothing more. A call on a GPU that has not come
    to its end in `timeout` seconds ends this process, with exit code 1: nothing less stops a kernel there. The host way
    stops its kernels itself (`host.compile`).
    """
    sizes = tuple(sizes) or ways.sizes or SIZES
    cases = [(size, inputs := ways.make_inputs(size), ways.reference(*inputs)) for size in sizes]
    rows: list[Row] = []
    problems = []
    errors: list[Exception] = []
    for way, function in ways.runnable.items():
        outcome = "right"
        for size, inputs, expected in cases:
            try:
                with _ends_in(None if is_host(way) else timeout, f"{_name(ways, way)}, size {size}"):
                    problem = verdict(function, way, inputs, expected, ways.rtol, ways.in_place, ways.atol)
            except CheckFailure as failure:
                raise CheckFailure(f"{_name(ways, way)}, size {size}: {failure}") from failure.__cause__
            except Exception as error:
                problem = f"it raised {type(error).__name__}: {error}"
                errors.append(error)
            if problem:
                outcome = f"{_name(ways, way)}, size {size}: {problem}"
                problems.append(outcome)
                break
        rows.append({"way": way, "sizes": len(sizes), "outcome": outcome})
    rows += [{"way": way, "sizes": 0, "outcome": f"not run: {why}"} for way, why in ways.missing.items()]
    if problems:
        raise CheckFailure("\n".join(problems)) from (errors[0] if errors else None)
    if not ways.runnable:
        raise CheckFailure(f"no way of {ways.kernel} can run here, so nothing was checked")
    columns = [
        ("way", lambda row: row["way"]),
        ("sizes checked", lambda row: str(row["sizes"])),
        ("outcome", lambda row: row["outcome"]),
    ]
    return Table("check", rows, columns)


def _name(ways: Ways, way: str) -> str:
    """`doublify_nvrtc`, or `a.cu, nvrtc`."""
    return way if ", " in way else f"{ways.kernel}_{way}"


@contextmanager
def _ends_in(timeout: int | None, what: str) -> Iterator[None]:
    """End this process if the block takes more than `timeout` seconds."""

    def give_up() -> None:
        print(f"{what}: the kernel has not come to its end in {timeout} s; is there a loop?", file=sys.stderr)
        sys.stderr.flush()
        os._exit(1)

    timer = threading.Timer(timeout or 0, give_up)
    timer.daemon = True
    if timeout:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
