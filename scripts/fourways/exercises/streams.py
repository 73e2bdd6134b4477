"""The judges of lesson 11: how long does a pipeline take, and for which tasks must a task wait?"""

import random

from fourways.exercises.functions import Answer, same

_STAGES = ("copy in", "compute", "copy out")
_NEEDS = {
    ("compute", "copy in", 0): "runs before its data has come in",
    ("copy out", "compute", 0): "goes out before it is computed",
    ("copy in", "compute", 1): "overwrites x and y before a kernel has read them",
    ("compute", "copy out", 1): "overwrites z before it has gone out",
}
"""A stage, the stage that it waits for, how many uses of its buffers ago, and the fault without the wait."""


def check_shortest(shortest: Answer) -> str:
    """Judge `shortest(chunks, seconds)`: how long a pipeline takes that has a stream for each chunk."""

    def right(chunks: int, seconds: dict[str, int]) -> int:
        return sum(seconds.values()) + (chunks - 1) * max(seconds.values())

    def draw() -> tuple[int, dict[str, int]]:
        return random.randint(2, 40), dict(zip(_STAGES, random.sample(range(1, 50), 3), strict=True))

    return same(shortest, right, draw, rtol=1e-9)


def check_waits(waits: Answer) -> str:
    """Judge `waits(stage, chunk, buffers)`: the tasks (stage, chunk) for which a task must wait."""
    for _ in range(42):
        stage, buffers, chunk = random.choice(_STAGES), random.randrange(1, 7), random.randrange(20)
        came = {tuple(task) for task in waits(stage, chunk, buffers) if task[1] >= 0}
        for (then, first, uses), fault in _NEEDS.items():
            task = first, chunk - uses * buffers
            if then == stage and task[1] >= 0 and task not in came:
                return f"Not yet: with {buffers} buffers, chunk {chunk} {fault}."
            came -= {task} if then == stage else set()
        if came:
            return f"Not yet: with {buffers} buffers, {stage} {chunk} need not wait for {came}."
    return "Right for 42 tasks: nothing too early, and no wait too many."
