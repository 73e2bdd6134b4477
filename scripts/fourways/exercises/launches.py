"""The judge of the page "When a kernel fails": which launches may have caused a fault?"""

import random

from fourways.exercises.functions import Answer, same


def check_suspects(answer: Answer) -> str:
    """Judge `answer(steps, raised)`: the numbers of the launches that may have caused what step `raised` reports."""

    def right(steps: list[str], raised: int) -> list[int]:
        cleared = max((number for number in range(raised) if steps[number] == "wait"), default=-1)
        return [number for number in range(cleared + 1, raised) if steps[number] == "launch"]

    def draw() -> tuple[list[str], int]:
        return [*random.choices(["launch", "launch", "host", "wait"], k=7), "launch", "wait", "wait"], 8

    return same(answer, right, draw)
