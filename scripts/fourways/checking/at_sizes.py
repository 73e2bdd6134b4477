"""A check of all ways at awkward sizes, and the same for a learner's exercise."""

import io
import math
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any

import numpy as np

from fourways import host
from fourways.checking.arrays import same
from fourways.checking.verdict import CheckFailure, verdict
from fourways.tables import Row, Table
from fourways.ways import Ways, is_host

SIZES = (0, 1, 31, 32, 33, 255, 256, 257, 1009, 65_537, 1_000_003)
"""Sizes that break a kernel with a wrong tail: nothing, one, around a warp, around a block, primes, many blocks."""

PATIENCE = 10
"""The seconds after which a check says what it is doing."""


def exercise(
    function: Callable[..., None],
    make_inputs: Callable[[int], tuple],
    reference: Callable,
    rtol: float = 0.0,
    launches: int = 0,
) -> bool:
    """Try a learner's `function(*inputs, output)` of NumPy arrays at SIZES, and return whether it is right at all.

    Prints the first thing that is wrong: size and element, what came and what was expected, or the exception.
    `make_inputs`, `reference` and `rtol` are as in a lesson. Scalars of NumPy's floating types are doubled at every
    other size, so that no constant passes for them. `launches` is the number of kernels that each call must launch by
    the host way, for a size above 0, with at least a thread for each element of the output. Nothing but these kernels
    may change the call's arrays, except that the output may be filled with 0 first, and the kernels may take no other
    arrays. So neither NumPy passes, alone or around a launch, nor a launch of one thread.
    """
    for number, size in enumerate(SIZES):
        inputs = tuple(
            value * value.dtype.type(2 - number % 2) if isinstance(value, np.floating) else value
            for value in make_inputs(size)
        )
        expected, watch = reference(*inputs), _Watch(function, len(inputs))
        try:
            problem = verdict(watch, "host", inputs, expected, rtol)
            if not problem and size and launches:
                problem = watch.problem(launches)
        except Exception as error:
            problem = f"it raised {type(error).__name__}: {error}"
            if isinstance(error, TypeError | ValueError):  # two arguments swapped, or one forgotten
                problem += (
                    f"\nIt was called with {', '.join(map(_kind, inputs))}, and {_kind(expected)} for the answer."
                )
        if problem:
            print(f"Not yet: size {size}: {problem}")
            return False
    print(f"Right at {len(SIZES)} sizes, from {min(SIZES)} to {max(SIZES)}.")
    return True


@contextmanager
def passing() -> Iterator[None]:
    """Raise AssertionError with the words of an exercise's check in this block, unless it prints `Right …`.

    Graders such as nbgrader count an exception as a wrong answer. Nothing is printed.
    """
    said = io.StringIO()
    with redirect_stdout(said):
        yield
    lines = said.getvalue().splitlines()
    if any(line.startswith("Not yet") for line in lines) or not any(line.startswith("Right") for line in lines):
        raise AssertionError(said.getvalue().strip() or "the check said nothing")


class _Watch:
    """A function that notes what a call does: its launches by the host way, and other changes of its arrays."""

    def __init__(self, function: Callable[..., Any], inputs: int):
        self._function, self._inputs = function, inputs
        self._launched = self._threads = self._elements = 0
        self._takes_another_array = self._is_changed_by_hand = False

    def __call__(self, *arguments: Any) -> Any:
        arrays, outputs = _arrays(arguments), _arrays(arguments[self._inputs :])
        left = [array.copy() for array in arrays]
        self._elements = max(output.size for output in outputs)

        def look() -> None:
            for array, before in zip(arrays, left, strict=True):
                is_cleared = not self._launched and any(array is output for output in outputs) and not array.any()
                self._is_changed_by_hand |= not is_cleared and not same(array, before)

        def note(args: Sequence[Any], shape: Sequence[int]) -> Callable[[], None]:
            look()
            for array in filter(np.size, _arrays(args)):
                self._takes_another_array |= not any(np.shares_memory(array, own) for own in arrays)

            def finished() -> None:
                self._launched += 1
                self._threads += math.prod(shape)
                left[:] = [array.copy() for array in arrays]

            return finished

        try:
            with host.noting(note):
                return self._function(*arguments)
        finally:
            look()

    def problem(self, launches: int) -> str | None:
        """Return what a right call did beside `launches` kernels, or None."""
        if self._launched != launches:
            return f"the answer is right, but {self._launched} kernels were launched; {launches} should be."
        if self._is_changed_by_hand:
            return "the answer is right, but not only the kernel changed the arrays. Leave the computing to the kernel."
        if self._takes_another_array:
            return "the answer is right, but a kernel got an array that is none of the function's arguments."
        if self._threads < self._elements:
            launched = "one thread was" if self._threads == 1 else f"{self._threads} threads were"
            return f"the answer is right, but {launched} launched for {self._elements} elements. Launch one for each."
        return None


def _arrays(values: Iterable[Any]) -> list[np.ndarray]:
    return [value for value in values if isinstance(value, np.ndarray)]


def _kind(value: Any) -> str:
    shape = f" {value.shape}" if isinstance(value, np.ndarray) else ""
    return f"{value.dtype if hasattr(value, 'dtype') else type(value).__name__}{shape}"


def check(
    ways: Ways,
    sizes: Iterable[int] = (),
    timeout: int | None = None,
    tell: Callable[[str], Any] = lambda _: None,
) -> Table:
    """Check every way that can run here at every size against the reference, and return the outcomes as a table.

    The sizes are by default the ways' own, or else SIZES. Raises CheckFailure after all have run, naming each wrong way
    with its first wrong size and element; at once where the GPU can do nothing more. A call on a GPU that has not come
    to its end in `timeout` seconds ends this process, with exit code 1: nothing less stops a kernel there. The host way
    stops its kernels itself (`host.compile`). `tell` gets a line on each call that takes longer than ten seconds.
    """
    sizes = tuple(sizes) or ways.sizes or SIZES
    questions = {size: ways.question(size) for size in sizes}
    rows: list[Row] = []
    problems = []
    errors: list[Exception] = []
    for way, function in ways.runnable.items():
        outcome = "right"
        for size, question in questions.items():
            try:
                what = f"{ways.called(way)}, size {size}"
                with _says(tell, f"still checking {what}"), _ends_in(None if is_host(way) else timeout, what):
                    problem = verdict(function, way, *question)
            except CheckFailure as failure:
                lost = f"{ways.called(way)}, size {size}: {failure}"
                rows.append({"way": way, "sizes": len(sizes), "outcome": lost})
                raise CheckFailure(lost, rows) from failure.__cause__
            except Exception as error:
                problem = f"it raised {type(error).__name__}: {error}"
                errors.append(error)
            if problem:
                outcome = f"{ways.called(way)}, size {size}: {problem}"
                problems.append(outcome)
                break
        rows.append({"way": way, "sizes": len(sizes), "outcome": outcome})
    rows += [{"way": way, "sizes": 0, "outcome": f"not run: {why}"} for way, why in ways.missing.items()]
    if problems:
        raise CheckFailure("\n".join(problems), rows) from (errors[0] if errors else None)
    if not ways.runnable:
        raise CheckFailure(f"no way of {ways.kernel} can run here, so nothing was checked", rows)
    return outcomes(rows)


def outcomes(rows: Sequence[Row]) -> Table:
    """The rows of one check, or of several, as a table."""
    return Table("check", rows, ["way", ("sizes checked", "sizes"), "outcome"])


def search(build: Callable[[], Ways], sanitizer: str) -> tuple[int, ...]:
    """Look for faults that no answer shows: run the host way under a sanitizer, and return the sizes, small first.

    `sanitizer` is a key of `host.SEARCHES`; `build` compiles the host way, once for each kind of search. Sizes are
    small, because each CUDA thread of a block becomes an OS thread. The largest size comes first, because
    AddressSanitizer names the array best just past the end of a long one. Raises CheckFailure with the finding, or with
    a wrong answer.
    """
    sizes: list[int] = []
    for kind in host.SEARCHES[sanitizer][0]:
        with host.sanitizing(kind):
            ways = build()
            known = sorted(filter(None, ways.sizes or SIZES), reverse=True) or [0]
            sizes = [size for size in known if size < 2000] or known[-1:]
            for size in sizes:
                _search_at(ways, size, kind)
    return tuple(reversed(sizes))


def _search_at(ways: Ways, size: int, kind: str) -> None:
    """Check one size. Raises CheckFailure with the sanitizer's finding.

    In a search for races between blocks, a wrong answer alone is no finding. It may come from a race between threads of
    a block, which the next search finds.
    """
    try:
        check(ways, [size])
    except (CheckFailure, RuntimeError) as error:
        cause = error if isinstance(error, RuntimeError) else error.__cause__
        if isinstance(cause, RuntimeError):  # host.SanitizerError, or a crash without a finding
            raise CheckFailure(f"{ways.kernel}_host, size {size}: {host.finding(str(cause))}") from None
        if kind == "thread":
            raise CheckFailure(f"{error}\nThe search named no race at this size.") from None
        if kind != "blocks":
            raise


@contextmanager
def _says(tell: Callable[[str], Any], what: str) -> Iterator[None]:
    """Tell `what` goes on if the block takes longer than `PATIENCE` seconds."""
    timer = threading.Timer(PATIENCE, tell, [what])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


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
