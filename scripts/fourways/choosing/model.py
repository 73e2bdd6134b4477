"""The model: what a program's time consists of, and where two ways take turns."""

import itertools
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9}


@dataclass(frozen=True)
class Cost:
    """What a way costs a program, in seconds by the host's clock; `origin` says where that was measured.

    `stages` are those of a process that finds everything built, its first launch included, and `low` and `high` the
    10th and 90th percentile of their sum. `cold` is what a process pays in addition that finds nothing built, `edit`
    what an edited kernel costs until it is built; `launch` is how long a call keeps the host busy.
    """

    name: str
    stages: Mapping[str, float]
    low: float
    high: float
    launch: float
    cold: float = 0.0
    edit: float = 0.0
    origin: str = ""

    @property
    def start(self) -> float:
        """Seconds from process start to the end of the first launch."""
        return sum(self.stages.values())


def total(cost: Cost, launches: float, kernel: float) -> float:
    """The seconds of a program that finds everything built, and launches that often after its first result.

    `kernel` is how many seconds the GPU works on a launch.
    """
    return cost.start + launches * max(cost.launch, kernel)


def crossing(first: Cost, then: Cost, kernel: float) -> float | None:
    """The launches from which on `then`, which starts later, is the quicker one; None where that never happens."""
    saved = max(first.launch, kernel) - max(then.launch, kernel)
    behind = then.start - first.start
    return behind / saved if saved > 0 and behind > 0 else None


def crossings(costs: Iterable[Cost], kernel: float) -> list[tuple[float, Cost, Cost]]:
    """Every crossing among ways: its launches, who is quicker before it, who from there on; the first ones first."""
    found = []
    for first, then in itertools.permutations(costs, 2):
        if launches := crossing(first, then, kernel):
            found.append((launches, first, then))
    return sorted(found, key=lambda each: each[0])


def parse_seconds(text: str) -> float:
    """Seconds from `30us`, `0.2 ms` or `1.5s`. Raises ValueError for anything else, and for what is not above 0."""
    found = re.fullmatch(r"\s*([\d.]+(?:e[+-]?\d+)?)\s*([a-zµμ]+)\s*", text, re.IGNORECASE)
    try:
        value = float(found[1]) * _UNITS[found[2].lower()] if found else 0.0
    except (ValueError, KeyError):
        value = 0.0
    if not (0 < value < math.inf):
        raise ValueError(f"{text!r} is no time above 0; wanted a number and its unit, as 30us, 0.2ms or 1.5s")
    return value
