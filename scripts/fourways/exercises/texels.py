"""The judge of the page on textures: what does a one-dimensional texture return?"""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from fourways.exercises.functions import same


def check_linear(answer: Callable[[np.ndarray, float], Any]) -> str:
    """Judge `answer(values, x)`: a texture with linear filter and clamping, at x; the middle of element i is i + 0.5.

    It is tried between the elements, at middles, at borders, and beyond both ends.
    """

    def right(values: np.ndarray, x: float) -> float:
        return float(np.interp(x - 0.5, np.arange(len(values)), values))

    def draw() -> tuple[np.ndarray, float]:
        length = random.randrange(5, 12)
        values = np.array(random.sample(range(1, 100), length), np.float32)
        inside = random.randrange(256 * length) / 256
        return values, random.choice([inside, inside, random.randrange(2 * length) / 2, -3.0, 0.25, length + 2.5])

    return same(answer, right, draw, 40, rtol=1e-5)
