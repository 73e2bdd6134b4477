"""A search for races, and for accesses outside of arrays, on the CPU under a compiler's sanitizer."""

from collections.abc import Callable
from typing import Any

from fourways import host
from fourways.checking.at_sizes import SIZES, check
from fourways.checking.verdict import CheckFailure
from fourways.ways import Ways


def search(build: Callable[[], Ways], sanitizer: str, tell: Callable[[str], Any] = lambda _: None) -> tuple[int, ...]:
    """Look for faults that no answer shows: run the host way under a sanitizer, and return the sizes, small first.

    `sanitizer` is a key of `host.SEARCHES`; `build` compiles the host way, once for each kind of search. Sizes are
    small, because each CUDA thread of a block becomes an OS thread. The largest size comes first, because
    AddressSanitizer names the array best just past the end of a long one. `tell` gets a line on each race that the ways
    accept (`same_value_races`). Raises CheckFailure with the finding, or with
    a wrong answer.
    """
    sizes: list[int] = []
    for kind in host.SEARCHES[sanitizer][0]:
        with host.sanitizing(kind):
            ways = build()
            known = sorted(filter(None, ways.sizes or SIZES), reverse=True) or [0]
            sizes = [size for size in known if size < 2000] or known[-1:]
            for size in sizes:
                _search_at(ways, size, kind, tell)
    return tuple(reversed(sizes))


def _search_at(ways: Ways, size: int, kind: str, tell: Callable[[str], Any]) -> None:
    """Check one size. Raises CheckFailure with the sanitizer's finding.

    In a search for races between blocks, a wrong answer alone is no finding. It may come from a race between threads of
    a block, which the next search finds.
    """
    try:
        check(ways, [size])
    except (CheckFailure, RuntimeError) as error:
        cause = error if isinstance(error, RuntimeError) else error.__cause__
        if isinstance(cause, RuntimeError):  # host.SanitizerError, or a crash without a finding
            words = host.finding(str(cause))
            if ways.same_value_races and (accepted := host.same_value(words)):
                return tell(f"size {size}: accepted, as the case says: {accepted}")
            raise CheckFailure(f"{ways.kernel}_host, size {size}: {words}") from None
        if kind == "thread":
            raise CheckFailure(f"{error}\nThe search named no race at this size.") from None
        if kind != "blocks":
            raise
