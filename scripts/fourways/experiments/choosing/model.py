"""The model of a program's time, and the numbers of launches at which one way overtakes another."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """The cost of a way for a program, in seconds by the host's clock; `origin` names the machine and the date.

    `stages` are those of a process that finds everything built, up to its first launch; `low` and `high` are the 10th
    and 90th percentile of their sum. `launch` is the host's time for a further call. `cold` is the additional time of a
    process that finds nothing built, `edit` the time until an edited kernel is built. `launch_low` and `launch_high`
    are percentiles of `launch`, where they are known.
    """

    name: str
    stages: Mapping[str, float]
    low: float
    high: float
    launch: float
    cold: float = 0.0
    edit: float = 0.0
    origin: str = ""
    launch_low: float | None = None
    launch_high: float | None = None

    @property
    def start(self) -> float:
        """The seconds from process start to the end of the first launch."""
        return sum(self.stages.values())

    def total(self, launches: float, kernel: float) -> float:
        """Return the seconds of a program that finds everything built and launches `launches` times after its first
        result; `kernel` is the GPU's seconds for a launch."""
        return self.start + launches * max(self.launch, kernel)

    def spread(self, launches: float, kernel: float) -> tuple[float, float]:
        """Return `total` with the start and the launch at their 10th percentiles, and with both at their 90th."""
        low, high = self.between_launches(kernel)
        return self.low + launches * low, self.high + launches * high

    def between_launches(self, kernel: float) -> tuple[float, float]:
        """Return the seconds between two launches, at the 10th and the 90th percentile."""
        low = self.launch if self.launch_low is None else self.launch_low
        high = self.launch if self.launch_high is None else self.launch_high
        return max(low, kernel), max(high, kernel)


def crossing(first: Cost, then: Cost, kernel: float) -> float | None:
    """Return the number of launches from which `then` is faster than `first` by more than the spread of both.

    Returns None if it never is, or is from the start.
    """
    behind = then.high - first.low
    gain = first.between_launches(kernel)[0] - then.between_launches(kernel)[1]
    return behind / gain if behind > 0 and gain > 0 else None


def crossings(costs: Iterable[Cost], kernel: float) -> list[tuple[float, Cost, Cost]]:
    """Return every crossing: its launches, the way that falls behind there, and the way that is faster from there on.

    Crossings are sorted by launches.
    """
    crossed = []
    for first, then in itertools.permutations(costs, 2):
        if launches := crossing(first, then, kernel):
            crossed.append((launches, first, then))
    return sorted(crossed, key=lambda each: each[0])
