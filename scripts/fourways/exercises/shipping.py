"""The judges of lesson 13: which code starts on a GPU, and how many wheels does a release need?"""

import random
import re
from collections.abc import Callable, Sequence
from typing import Any

from fourways import toolchain
from fourways.exercises.functions import same

CODES = "sm_75 sm_80 sm_86 sm_90 sm_100f sm_103 sm_120a compute_75 compute_80 compute_90a compute_100f compute_120"
GPUS = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"]


def _rank(code: str) -> tuple[bool, int]:  # no two of CODES are equal
    return code.startswith("sm_"), int(re.sub(r"\D", "", code))


def check_pick(pick: Callable[[list[str], str], Any]) -> str:
    """Judge `pick(held, gpu)`: the code that starts fastest on a GPU, or None if none of those held starts."""

    def best(held: Sequence[str], gpu: str) -> str | None:
        return max((code for code in held if toolchain.runs_on([code], gpu)), key=_rank, default=None)

    def why(came: Any, expected: str | None) -> str:
        if came is None or came not in CODES.split():
            return ""
        if expected and _rank(came) < _rank(expected):
            return "Take machine code before PTX, and newer code before older, of what starts."
        if came[-1] in "af":
            return "An `a` starts on its own version alone, and an `f` within its major version, even as PTX."
        return "Machine code starts within its major version, and no code below its own version."

    def draw() -> tuple[list[str], str]:
        return random.sample(CODES.split(), random.randint(1, 4)), random.choice(GPUS)

    return same(pick, best, draw, 300, hint=why)


def check_wheels(wheels: Callable[..., Any]) -> str:
    """Judge `wheels(pythons, cudas, platforms, architectures, stable=None)`: the number of wheels of a release."""

    def count(pythons: Any, cudas: Any, platforms: Any, architectures: Any, stable: Any) -> int:
        served = {python if stable is None else min(python, stable) for python in pythons}
        return len(served) * len({cuda.split(".")[0] for cuda in cudas}) * len(platforms)

    def draw() -> tuple[Any, ...]:
        pythons, cudas = [(3, 11), (3, 12), (3, 13), (3, 14)], ["12.8", "12.9", "13.0", "14.1"]
        lists: list[Any] = [pythons, cudas, ["linux", "win"], ["75", "90", "120"]]
        chosen = [sorted(random.sample(each, random.randint(1, len(each)))) for each in lists]
        return *chosen, random.choice([None, (3, 12), (3, 13)])

    return same(wheels, count, draw, 100)
