"""The judge of lesson 01: when does the GPU pay?"""

import random
from collections.abc import Callable
from typing import Any

from fourways.exercises.functions import same


def check_passes(answer: Callable[[int, int, int], Any]) -> str:
    """Judge `answer(numpy, copies, kernel)`: the least n with `copies + n * kernel < n * numpy`, or None."""

    def right(numpy: int, copies: int, kernel: int) -> int | None:
        return copies // (numpy - kernel) + 1 if kernel < numpy else None

    def draw() -> tuple[int, int, int]:
        kernel, gain = random.randrange(1, 50), random.choice([-1, 0, *range(1, 20)])
        return max(1, kernel + gain), random.choice([7 * abs(gain), random.randrange(1, 1000)]), kernel

    return same(answer, right, draw, 40)
