"""`exercises.same`: what it takes for right, and what it says of the rest."""

import random

import numpy as np
import pytest

from fourways import exercises


def draw() -> tuple[int, int]:
    return random.randrange(1, 100), random.randrange(1, 100)


def test_right_answers_of_other_types_are_right() -> None:
    assert exercises.same(lambda a, b: np.float32(a + b), lambda a, b: a + b, draw) == "Right for 20 cases."
    assert exercises.same(lambda a, b: np.array([a, b]), lambda a, b: (a, b), draw).startswith("Right")
    assert exercises.same(lambda a, b: np.bool_(a < b), lambda a, b: a < b, draw).startswith("Right")
    assert exercises.same(lambda a, b: a / b * (1 + 1e-9), lambda a, b: a / b, draw, rtol=1e-6).startswith("Right")
    assert exercises.same(lambda a, b: None, lambda a, b: None, draw).startswith("Right")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda a, b: None, "returned None; expected "),
        (lambda a, b: a - b, "returned "),
        (lambda a, b: [a, b], "returned ["),
        (lambda a, b: float("nan"), "returned nan"),
        (lambda a, b: a // 0, "raised ZeroDivisionError"),
        (lambda a: a, "raised TypeError"),
    ],
)
def test_wrong_answers_are_told_with_the_case(answer, told) -> None:
    said = exercises.same(answer, lambda a, b: a + b, draw)
    assert said.startswith("Not yet: ") and told in said


def test_a_function_that_changes_its_arguments_harms_nobody() -> None:
    def double(x: np.ndarray) -> np.ndarray:
        x *= 2
        return x

    assert exercises.same(double, lambda x: x * 2, lambda: (np.arange(5.0),)).startswith("Right")
