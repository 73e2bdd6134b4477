"""The judges of lesson 11: how long does a pipeline take, and for which tasks must a task wait?"""

import itertools
import random
from collections.abc import Callable
from typing import Any

from fourways.exercises.functions import same

_STAGES = ("copy in", "compute", "copy out")
_NEEDS = {
    ("compute", "copy in", 0): "runs before its data has come in",
    ("copy out", "compute", 0): "goes out before it is computed",
    ("copy in", "compute", 1): "overwrites x and y before a kernel has read them",
    ("compute", "copy out", 1): "overwrites z before it has gone out",
}
"""A stage, the stage that it waits for, how many uses of its buffers ago, and the fault without the wait."""


def check_shortest(shortest: Callable[..., Any]) -> str:
    """Judge `shortest(chunks, seconds)`: how long a pipeline takes that has a stream for each chunk."""

    def right(chunks: int, seconds: dict[str, int]) -> int:
        return sum(seconds.values()) + (chunks - 1) * max(seconds.values())

    return same(shortest, right, lambda: (random.randint(2, 40), _draw()), rtol=1e-9)


def _draw() -> dict[str, int]:
    return dict(zip(_STAGES, random.sample(range(1, 50), 3), strict=True))


def check_waits(waits: Callable[..., Any]) -> str:
    """Judge `waits(stage, chunk, buffers)`: the tasks (stage, chunk) for which a task must wait."""

    def run(waits: Callable[..., Any]) -> dict[Any, tuple[int, int]]:
        free, spans = dict.fromkeys(_STAGES, 0), dict[Any, tuple[int, int]]()
        for chunk, stage in itertools.product(range(4 * buffers + 1), _STAGES):
            before = [tuple(task) for task in waits(stage, chunk, buffers) if task[1] >= 0]
            if late := [task for task in before if task not in spans]:
                raise ValueError(f"{stage} {chunk} waits for {late[0]}, which is not queued before it")
            start = max([free[stage], *(spans[task][1] for task in before)])
            spans[stage, chunk] = start, start + seconds[stage]
            free[stage] = start + seconds[stage]
        return spans

    def needed(stage: str, chunk: int, buffers: int) -> list[tuple[str, int]]:
        return [(first, chunk - uses * buffers) for then, first, uses in _NEEDS if then == stage]

    for case in range(42):
        buffers, seconds = 1 + case % 6, _draw()
        told = f"({buffers} buffer{'s' * (buffers > 1)}, times of {', '.join(map(str, seconds.values()))} s)"
        try:
            spans, best = run(waits), run(needed)
        except (TypeError, ValueError, IndexError) as error:
            return f"Not yet: a list of earlier tasks such as ('copy in', 0) is expected; {error} {told}."
        for stage, chunk in spans:
            for (then, first, uses), fault in _NEEDS.items():
                earlier = spans.get((first, chunk - uses * buffers), (0, 0))
                if then == stage and spans[stage, chunk][0] < earlier[1]:
                    return f"Not yet: chunk {chunk} {fault} {told}."
        taken, enough = (max(end for _, end in each.values()) for each in (spans, best))
        if taken > enough:
            return f"Not yet: in order, but {taken} s, where {enough} s are enough {told}."
    return "Right for 42 pipelines: nothing too early, and no wait that costs time."
