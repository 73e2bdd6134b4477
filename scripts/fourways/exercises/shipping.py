"""The judges of lesson 13: which code starts on a GPU, and how many wheels does a release need?"""

import random
import re

from fourways import toolchain
from fourways.exercises.functions import Answer, same

CODES = "sm_75 sm_80 sm_86 sm_90 sm_100f sm_103 sm_120a compute_75 compute_80 compute_90a compute_100f compute_120"
GPUS = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"]


def check_pick(pick: Answer) -> str:
    """Judge `pick(held, gpu)`: the code that starts fastest on a GPU, or None if none of those held starts."""

    def rank(code: str) -> tuple[bool, int]:
        return code.startswith("sm_"), int(re.sub(r"\D", "", code))

    def best(held: list[str], gpu: str) -> str | None:
        return max((code for code in held if toolchain.runs_on([code], gpu)), key=rank, default=None)

    def hint(came: object, expected: str | None) -> str:
        if str(came)[-1] in "af":
            return "An `a` starts on its own version alone, and an `f` within its major version, even as PTX."
        return "Machine code starts within its major version, and no code below its own version."

    def draw() -> tuple[list[str], str]:
        return random.sample(CODES.split(), random.randint(1, 4)), random.choice(GPUS)

    return same(pick, best, draw, 300, hint=hint)


def check_wheels(wheels: Answer) -> str:
    """Judge `wheels(pythons, cudas, platforms, architectures, stable=None)`: the number of wheels of a release."""

    def count(pythons: list, cudas: list, platforms: list, architectures: list, stable: tuple | None) -> int:
        served = {min(python, stable) if stable else python for python in pythons}
        return len(served) * len({cuda.split(".")[0] for cuda in cudas}) * len(platforms)

    def draw() -> tuple:
        pythons, cudas = [(3, 11), (3, 12), (3, 13), (3, 14)], ["12.8", "12.9", "13.0", "14.1"]
        lists: list[list] = [pythons, cudas, ["linux", "win"], ["75", "90", "120"]]
        return *(random.sample(each, random.randint(1, len(each))) for each in lists), random.choice([None, (3, 12)])

    return same(wheels, count, draw, 100)
