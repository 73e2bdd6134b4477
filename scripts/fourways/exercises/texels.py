"""The judge of the page on textures: what does a one-dimensional texture return?"""

import random

import numpy as np

from fourways.exercises.functions import Answer, same


def check_linear(answer: Answer) -> str:
    """Judge `answer(values, x)`: a texture with linear filter and clamping, at x; the middle of element i is i + 0.5.

    It is tried between the elements, at middles, at borders, and beyond both ends.
    """

    def draw() -> tuple[np.ndarray, float]:
        return np.array(random.sample(range(1, 100), 6), np.float32), random.randrange(-8, 32) / 4

    return same(answer, lambda values, x: np.interp(x - 0.5, range(len(values)), values), draw, 40, rtol=1e-5)
