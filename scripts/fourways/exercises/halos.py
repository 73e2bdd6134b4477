"""The judge of an exchange of halos between strips of a plate."""

import random
from itertools import accumulate, pairwise

import numpy as np

from fourways.exercises.functions import Answer, same


def check_exchange(exchange: Answer) -> str:
    """Judge `exchange(strips)`, which fills the halos of 1 to 5 strips in place. Each row holds its number."""

    def cut(heights: list[int]) -> list[np.ndarray]:
        plate = np.arange(sum(heights))[:, None] + np.zeros((1, 4), np.float32)
        ends = zip(heights, accumulate(heights), strict=True)
        return [plate[max(0, end - rows - 1) : end + 1].copy() for rows, end in ends]

    def rows_after(heights: list[int]) -> np.ndarray:
        strips = cut(heights)
        for upper, lower in pairwise(strips):
            upper[-1] = lower[0] = np.nan
        exchange(strips)
        return np.concatenate(strips).mean(axis=1)

    def right(heights: list[int]) -> np.ndarray:
        return np.concatenate(cut(heights)).mean(axis=1)

    def draw() -> tuple[list[int]]:
        return ([random.randrange(2, 5) for _ in range(random.randint(1, 5))],)

    return same(rows_after, right, draw, hint=lambda *_: "nan is an old halo, and a number that of a row of the plate.")
