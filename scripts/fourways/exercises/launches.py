"""The judge of the page "When a kernel fails": which launches may have caused a fault?"""

import random
from collections.abc import Callable
from typing import Any

from fourways.exercises.functions import same


def check_suspects(answer: Callable[[list[str], int], Any]) -> str:
    """Judge `answer(steps, raised)`: the numbers of the launches that may have caused what step `raised` reports."""

    def right(steps: list[str], raised: int) -> list[int]:
        cleared = max((number for number in range(raised) if steps[number] == "wait"), default=-1)
        return [number for number in range(cleared + 1, raised) if steps[number] == "launch"]

    def draw() -> tuple[list[str], int]:
        before, after = (random.choices(["launch", "host", "wait"], k=random.randrange(4)) for _ in range(2))
        between = [*random.choices(["launch", "host"], k=2), "launch", "launch"]
        random.shuffle(between)
        cleared = [*before, "launch", "wait"] if random.random() < 0.8 else []
        steps = [*cleared, *between, random.choice(["launch", "wait"]), *after]
        return steps, len(cleared) + len(between)

    return same(answer, right, draw)
