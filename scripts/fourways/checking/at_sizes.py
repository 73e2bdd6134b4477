"""A check of all ways at awkward sizes, the same for a learner's exercise, and under a compiler's sanitizer."""

import io
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from html import escape
from typing import Any

import numpy as np

from fourways import host
from fourways.checking.verdict import CheckFailure, GpuLost, verdict
from fourways.tables import Row, Table
from fourways.ways import Ways, is_host

SIZES = (0, 1, 31, 32, 33, 255, 256, 257, 1009, 65_537, 1_000_003)
"""Sizes that break a kernel with a wrong tail: nothing, one, around a warp, around a block, primes, many blocks."""


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
    other size, so that no constant passes for them. `launches` is how many kernels a call launches, but at size 0.
    """
    for number, size in enumerate(SIZES):
        inputs = tuple(
            value * value.dtype.type(2 - number % 2) if isinstance(value, np.floating) else value
            for value in make_inputs(size)
        )
        if problem := _problem(function, inputs, reference(*inputs), rtol, launches if size else 0):
            print(f"Not yet: size {size}: {problem}")
            return False
    print(f"Right at {len(SIZES)} sizes, from {min(SIZES)} to {max(SIZES)}.")
    return True


def _problem(function: Callable[..., None], inputs: tuple, expected: Any, rtol: float, launches: int) -> str | None:
    before = host.HostKernel.launches
    try:
        problem = verdict(function, "host", inputs, expected, rtol)
    except Exception as error:
        told = f"it raised {type(error).__name__}: {error}"
        if isinstance(error, TypeError | ValueError):  # two arguments swapped, or one forgotten
            told += f"\nIt was called with {', '.join(map(_kind, inputs))}, and {_kind(expected)} for the answer."
        return told
    launched = host.HostKernel.launches - before
    if not problem and launches and launched != launches:
        return f"the answer is right, but {launched} kernels were launched; {launches} should be."
    return problem


@contextmanager
def passing() -> Iterator[None]:
    """Raise AssertionError with the words of an exercise's check in this block, unless it prints `Right …`.

    Graders such as nbgrader count an exception as a wrong answer. Nothing is printed: nbgrader gives no point to a test
    that writes to stderr, not even a warning.
    """
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(io.StringIO()):
        yield
    lines = said.getvalue().splitlines()
    if any(line.startswith("Not yet") for line in lines) or not any(line.startswith("Right") for line in lines):
        raise AssertionError(said.getvalue().strip() or "the check said nothing")


def _kind(value: Any) -> str:
    shape = f" {value.shape}" if isinstance(value, np.ndarray) else ""
    return f"{value.dtype if hasattr(value, 'dtype') else type(value).__name__}{shape}"


class Outcomes(Table):
    """The rows of one check, or of several. A notebook shows them in one line, as all of them are right or not run."""

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__("check", rows, ["way", ("sizes checked", "sizes"), "outcome"])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        said = self.line()
        return super()._repr_mimebundle_() | {"text/plain": said, "text/html": f"<p>{escape(said)}</p>"}

    def line(self) -> str:
        """Return who is right at how many sizes, and who was not run, with the reason."""
        right = [row["way"] for row in self.rows if row["outcome"] == "right"]
        sizes = {row["sizes"] for row in self.rows if row["outcome"] == "right"}
        reasons: dict[str, list[str]] = {}
        for row in self.rows:
            if row["outcome"] != "right":
                reasons.setdefault(row["outcome"], []).append(row["way"])
        count = f"at {', '.join(map(str, sorted(sizes)))} sizes"
        if not reasons and len(right) > 1:
            number = {2: "two", 3: "three", 4: "four", 5: "five"}.get(len(right), len(right))
            return f"All {number} ways are right {count}."
        rest = [f"{', '.join(names)}: {reason}." for reason, names in reasons.items()]
        return " ".join([f"Right {count}: {', '.join(right)}.", *rest])


def check(ways: Ways, sizes: Iterable[int] = (), timeout: int | None = None) -> Outcomes:
    """Check every way that can run here at every size against the reference, and return the outcomes as a table.

    The sizes are by default the ways' own, or else SIZES. Raises CheckFailure after all have run, naming each wrong way
    with its first wrong size and element; GpuLost at once where the GPU can do nothing more. A call on a GPU that has
    not come to its end in `timeout` seconds ends this process, with exit code 1: nothing less stops a kernel there. The
    host way stops its kernels itself (`host.compile`).
    """
    sizes = tuple(sizes) or ways.sizes or SIZES
    questions = {size: ways.question(size) for size in sizes}
    rows: list[Row] = []
    errors: list[Exception] = []
    no_end = f"the kernel has not come to its end in {timeout} s; is there a loop?"
    for way, function in ways.runnable.items():
        limit = None if is_host(way) else timeout
        row: Row = {"way": way, "sizes": len(sizes), "outcome": "right"}
        rows.append(row)
        for size, question in questions.items():
            what = f"{ways.called(way)}, size {size}"
            try:
                with _ending(limit, f"{what}: {no_end}"):
                    problem = verdict(function, way, *question)
            except GpuLost as lost:
                row["outcome"] = f"{what}: {lost}"
                raise GpuLost(row["outcome"], rows) from lost.__cause__
            except Exception as error:
                problem = f"it raised {type(error).__name__}: {error}"
                errors.append(error)
            if problem:
                row["outcome"] = f"{what}: {problem}"
                break
    problems = [row["outcome"] for row in rows if row["outcome"] != "right"]
    for way, why in ways.missing.items():
        rows.append({"way": way, "sizes": 0, "outcome": why if why.startswith("not built: ") else f"not run: {why}"})
    if problems:
        raise CheckFailure("\n".join(problems), rows) from (errors[0] if errors else None)
    if not ways.runnable:
        raise CheckFailure(f"no way of {ways.kernel} can run here, so nothing was checked", rows)
    return Outcomes(rows)


@contextmanager
def _ending(seconds: float | None, words: str) -> Iterator[None]:
    """End this process with these words if the block takes more than `seconds`; never without a number."""

    def end() -> None:
        print(words, file=sys.stderr, flush=True)
        os._exit(1)

    timer = threading.Timer(seconds or 0, end)
    timer.daemon = True
    if seconds:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def search(build: Callable[[], Ways], sanitizer: str) -> tuple[int, ...]:
    """Look for faults that no answer shows: run the host way under a sanitizer, and return the sizes, small first.

    `sanitizer` is a key of `host.SEARCHES`; `build` compiles the host way, once for each kind of search. Sizes are
    small, because each CUDA thread of a block becomes an OS thread. The largest comes first, because AddressSanitizer
    names the array best just past the end of a long one. Raises CheckFailure with the finding, or with a wrong answer.
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

    In a search between blocks a wrong answer is no finding: the next search finds races in a block, which may cause it.
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
