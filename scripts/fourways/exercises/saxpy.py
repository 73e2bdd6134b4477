"""Judges of lesson 02: a kernel with a macro, and the share of a copy's rate."""

import io
import random
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import numpy as np

from fourways import checking, host
from fourways.exercises.functions import same


def check_axpby(text: str, make_inputs: Callable[[int], tuple]) -> str:
    """Judge the text of a kernel `axpby(a, x, y, z, n)`, where the macro `B` is the factor of y, 1 by default."""
    for factor in (1, 3, random.randrange(4, 1000)):
        options = () if factor == 1 else (f"-DB={factor}",)
        told = _tried(text, factor, options, make_inputs)
        if not told.startswith("Right"):
            return f"{told} ({' '.join(options) or 'no option'})"
    return f"Right without an option, with -DB=3, and with -DB={factor}."


def _tried(text: str, factor: int, options: tuple, make_inputs: Callable[[int], tuple]) -> str:
    try:
        kernel = host.compile(text, options=options).get_function("axpby")
    except (host.CompileError, host.KernelError) as error:
        return checking.not_yet(error)

    def launch(a: Any, x: Any, y: Any, z: Any) -> None:
        kernel((max(1, (x.size + 255) // 256),), (256,), (a, x, y, z, np.int64(x.size)))

    with redirect_stdout(io.StringIO()) as said:
        checking.exercise(launch, make_inputs, lambda a, x, y: a * x + factor * y, rtol=1e-5)
    return said.getvalue().strip()


def check_of_the_copy(answer: Callable[..., float]) -> str:
    """Judge `answer(reads, writes, seconds, copied, copied_seconds)`: a call's share of a copy's rate."""

    def right(reads: list, writes: list, seconds: float, copied: np.ndarray, copied_seconds: float) -> float:
        return sum(each.nbytes for each in reads + writes) / seconds / (2 * copied.nbytes / copied_seconds)

    def draw() -> tuple:
        arrays = [np.zeros(random.randrange(1, 4), random.choice(["f2", "f8"])) for _ in range(4)]
        writes = random.randrange(1, 3)
        return arrays[writes:3], arrays[:writes], random.uniform(1, 2), arrays[3], random.uniform(1, 2)

    def hint(came: Any, expected: float) -> str:
        return "Twice too much: a copy reads and writes." if np.isclose(came or 0, 2 * expected) else ""

    return same(answer, right, draw, rtol=1e-6, hint=hint)
