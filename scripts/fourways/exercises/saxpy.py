"""Judges of lesson 02: a kernel with a macro, and the share of a copy's rate."""

import io
import random
from contextlib import redirect_stdout
from typing import Any

import numpy as np

from fourways import checking, host
from fourways.exercises.functions import Answer, same


def check_axpby(text: str, make_inputs: Answer) -> str:
    """Judge the text of a kernel `axpby(a, x, y, z, n)`, where the macro `B` is the factor of y, 1 by default."""
    for factor in (1, 3, drawn := random.randrange(4, 1000)):
        option = "" if factor == 1 else f"-DB={factor}"
        try:
            kernel = host.compile(text, tuple(option.split())).get_function("axpby")
        except host.CompileError as error:
            return f"{checking.not_yet(error)} ({option or 'no option'})"

        def launch(a: Any, x: Any, y: Any, z: Any, kernel: Answer = kernel) -> None:
            kernel((max(1, (x.size + 255) // 256),), (256,), (a, x, y, z, np.int64(x.size)))

        with redirect_stdout(io.StringIO()) as said:
            is_right = checking.exercise(launch, make_inputs, lambda a, x, y, b=factor: a * x + b * y, rtol=1e-5)
        if not is_right:
            return f"{said.getvalue().strip()} ({option or 'no option'})"
    return f"Right without an option, with -DB=3, and with -DB={drawn}."


def check_of_the_copy(answer: Answer) -> str:
    """Judge `answer(reads, writes, seconds, copied, copied_seconds)`: a call's share of a copy's rate."""

    def right(reads: list, writes: list, seconds: float, copied: np.ndarray, copied_seconds: float) -> float:
        return sum(each.nbytes for each in reads + writes) / seconds / (2 * copied.nbytes / copied_seconds)

    def draw() -> tuple:
        arrays = [np.zeros(random.randrange(1, 4), random.choice(["f2", "f8"])) for _ in range(4)]
        return arrays[:2], arrays[2:3], random.uniform(1, 2), arrays[3], random.uniform(1, 2)

    return same(answer, right, draw, rtol=1e-6, hint=lambda *_: "A copy reads and writes each byte.")
