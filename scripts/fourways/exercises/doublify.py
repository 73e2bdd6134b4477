"""The judge of lesson 01: when does the GPU pay?"""

import random

from fourways.exercises.functions import Answer, same


def check_passes(answer: Answer) -> str:
    """Judge `answer(numpy, copies, kernel)`: the least n with `copies + n * kernel < n * numpy`, or None."""

    def right(numpy: int, copies: int, kernel: int) -> int | None:
        return copies // (numpy - kernel) + 1 if kernel < numpy else None

    return same(answer, right, lambda: tuple(random.randrange(1, most) for most in (20, 200, 20)), 40)
