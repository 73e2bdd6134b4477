"""The judges of lesson 05: do two plates share memory, and which plates have no gaps?"""

import random

import numpy as np

from fourways.exercises.functions import Answer, run_kernel, same

_TEXT = """
struct Plate {{ float *data; long long h, w; }};
#line 1
{}
extern "C" __global__ void plates(float *memory, const long long *u, const long long *v, int *answer)
{{
    *answer = overlap(Plate{{memory + u[0], u[1], u[2]}}, Plate{{memory + v[0], v[1], v[2]}});
}}
"""


def check_overlap(text: str) -> str:
    """Judge the C++ text of `bool overlap(const Plate &u, const Plate &v)`: do the plates share a float?"""

    def overlap(u: list[int], v: list[int]) -> bool:
        memory, answer = np.zeros(100, np.float32), np.zeros(1, np.int32)
        run_kernel(_TEXT.format(text), "plates", (1,), (1,), memory, np.array(u), np.array(v), answer)
        return bool(answer[0])

    def right(u: list[int], v: list[int]) -> bool:
        return u[0] < v[0] + v[1] * v[2] and v[0] < u[0] + u[1] * u[2]

    def draw() -> tuple[list[int], ...]:
        (h, w), (other_h, other_w) = ([random.randrange(2, 6) for _ in range(2)] for _ in range(2))
        start = random.choice([0, h * w, random.randrange(1, h * w), h * w + 20])
        return tuple(random.sample([[0, h, w], [start, other_h, other_w]], 2))

    return same(overlap, right, draw, 40, hint=lambda *_: "A plate is shown as [its first float's number, h, w].")


def check_gapless(answer: Answer) -> str:
    """Judge `answer(shape, strides)`: do the floats of a plate of at least one cell lie row by row without gaps?"""

    def right(shape: tuple[int, int], strides: tuple[int, int] | None) -> bool:
        (h, w), (down, across) = shape, strides or (4 * shape[1], 4)
        return (h == 1 or down == 4 * w) and (w == 1 or across == 4)

    def draw() -> tuple[tuple[int, int], tuple[int, int] | None]:
        h, w, gap = random.choice([1, 1, 2, 5]), random.choice([1, 1, 3, 8]), random.choice([1, 2])
        return (h, w), random.choice([(4 * gap * w, 4), (4 * gap * w, 4 * gap), (4, 4 * h), (64, 4), None])

    return same(answer, right, draw, 100)
