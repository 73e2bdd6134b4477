"""The judges of lesson 14, in whole microseconds: when has a way caught up, and what does a program with reads take?"""

import random
from collections.abc import Callable, Mapping
from typing import Any

from fourways.exercises.functions import same

Terms = Mapping[str, int]


def check_break_even(break_even: Callable[[Terms, Terms, int], Any]) -> str:
    """Judge `break_even(a, b, kernel)`: the least number of launches with which `b` takes no longer, or None."""

    def right(a: Terms, b: Terms, kernel: int) -> int | None:
        saved = max(a["launch"], kernel) - max(b["launch"], kernel)
        return -(-(b["start"] - a["start"]) // saved) if saved > 0 else None

    def draw() -> tuple[Terms, Terms, int]:
        start, behind = random.randrange(400_000, 900_000), random.randrange(1, 300_000)
        a = {"start": start, "launch": random.randrange(3, 16)}
        return a, {"start": start + behind, "launch": random.randrange(3, 16)}, random.choice([2, 5, 9, 30])

    return same(break_even, right, draw, 100)


def check_total_with_reads(total_with_reads: Callable[..., Any]) -> str:
    """Judge `total_with_reads(start, batches, size, launch, kernel, read)`, where each batch ends with a read."""

    def right(start: int, batches: int, size: int, launch: int, kernel: int, read: int) -> int:
        return start + batches * (launch + kernel + (size - 1) * max(launch, kernel) + read)

    def draw() -> tuple[int, ...]:
        launch, kernel, read = random.sample(range(2, 40), 3)
        return random.randrange(400_000, 900_000), random.randint(2, 50), random.randint(1, 9), launch, kernel, read

    return same(total_with_reads, right, draw, 100, rtol=1e-12)
