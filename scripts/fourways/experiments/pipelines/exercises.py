"""A model of streams, and the judges of lesson 11's exercises, which try an answer in it. They need no GPU."""

import itertools
import math
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from fourways import checking
from fourways.experiments.pipelines.copies import STAGES

Task = tuple[str, int, int, Iterable[tuple[str, int]]]
"""A stage, a chunk, a stream, and the tasks (stage, chunk) to wait for."""


def schedule(tasks: Iterable[Task], seconds: Mapping[str, float]) -> dict[tuple[str, int], tuple[float, float]]:
    """Return the start and the end of each task (stage, chunk) in a model of streams, in seconds.

    A stage takes `seconds`, and does one task at a time, in the order of the list; so does a stream. A task starts when
    both are free, and when all tasks that it waits for are over. A wait for a task that stands later in the list, or
    nowhere, is no wait: CUDA does not wait for an event that was never recorded. Raises KeyError for another stage.
    """
    free: dict[Any, float] = {}
    spans: dict[tuple[str, int], tuple[float, float]] = {}
    for stage, chunk, stream, waits in tasks:
        over = [spans[task][1] for task in waits if task in spans]
        start = max([free.get(stage, 0), free.get(stream, 0), *over])
        spans[stage, chunk] = start, start + seconds[stage]
        free[stage] = free[stream] = start + seconds[stage]
    return spans


def duration(spans: Mapping[tuple[str, int], tuple[float, float]]) -> float:
    """Return when the last task of `schedule` ends."""
    return max(end for _, end in spans.values())


def in_turns(chunks: int, streams: int) -> Iterator[Task]:
    """Yield the tasks of a pipeline: all three stages of a chunk in one stream, the next chunk in the next stream."""
    for chunk, stage in itertools.product(range(chunks), STAGES):
        yield stage, chunk, chunk % streams, ()


Waits = Callable[[str, int, int], Iterable[tuple[str, int]]]
"""A function of a stage, a chunk and the number of buffers that returns the tasks (stage, chunk) to wait for."""
_Case = tuple[int, Sequence[int]]
"""A number of chunks or buffers, and the seconds of the three stages."""


def check_shortest(shortest: Callable[[int, Mapping[str, float]], float]) -> str:
    """Judge `shortest(chunks, seconds)`: the seconds of a pipeline in the model, with a stream for each chunk.

    It is tried on random times of the three stages. The last case has so many chunks that the model is too slow.
    """
    numbers = random.Random()
    cases: list[_Case] = [(1, (2, 3, 4)), (8, (2, 1, 1)), (5, (1, 3, 1)), (7, (1, 1, 4)), (6, (2, 2, 2))]
    cases += [(numbers.randint(2, 40), numbers.sample(range(1, 50), 3)) for _ in range(20)]
    for chunks, times in [*cases, (300_000, (3, 1, 2))]:
        took = dict(zip(STAGES, times, strict=True))
        right = sum(times) + (chunks - 1) * max(times)
        case = f"{chunks:,} chunk{'s' * (chunks > 1)} of {', '.join(f'{name} {each} s' for name, each in took.items())}"
        start = time.process_time()
        answer = shortest(chunks, took)
        if time.process_time() - start > 0.15:
            return f"Not yet: right so far, but slow for {case}. Find a formula that needs no loop."
        if (number := checking.as_float(answer)) is None:
            return f"Not yet: {answer!r} came for {case}; expected is a number of seconds."
        if not abs(number - right) <= 1e-9 * right:  # so that NaN is wrong
            fault = "no number" if math.isnan(number) else "too long" if number > right else "too short"
            return f"Not yet: {number:g} s for {case} is {fault}."
    return f"Right for {len(cases) + 1} pipelines."


_NEEDS = (
    ("copy in", 0, "compute", "runs before its data has come in"),
    ("compute", 0, "copy out", "goes out before it is computed"),
    ("compute", 1, "copy in", "overwrites x and y before a kernel has read them"),
    ("copy out", 1, "compute", "overwrites z before it has gone out"),
)
"""A stage, how many uses of its buffers ago it counts, the stage that must not start before its end, and the fault."""


def _ring(waits: Waits, chunks: int, buffers: int) -> Iterator[Task]:
    """Yield the tasks of a pipeline with a stream for each stage."""
    for chunk, stage in itertools.product(range(chunks), STAGES):
        yield stage, chunk, STAGES.index(stage), waits(stage, chunk, buffers)


def check_waits(waits: Waits) -> str:
    """Judge `waits(stage, chunk, buffers)`: the tasks (stage, chunk) for which a task must wait.

    Each stage has a stream, and chunk `chunk` uses the buffers of chunk `chunk - buffers`. Nothing may be read before
    it is there, or overwritten before it was read, and no pipeline may take longer than that asks. The stages' times
    and the number of buffers are random.
    """
    numbers = random.Random()
    cases: list[_Case] = [(3, (2, 1, 1)), (3, (1, 4, 1)), (2, (3, 1, 3)), (1, (1, 1, 1)), (4, (1, 1, 9))]
    cases += [(numbers.randint(1, 6), numbers.sample(range(1, 12), 3)) for _ in range(40)]
    for buffers, times in cases:
        took, chunks = dict(zip(STAGES, times, strict=True)), 4 * buffers + 1
        case = f"With {buffers} buffer{'s' * (buffers > 1)} and times of {', '.join(map(str, times))} s"
        queued = [(stage, chunk) for stage, chunk, _, _ in _ring(_needed, chunks, buffers)]
        try:
            spans = schedule(_ring(waits, chunks, buffers), took)
            asked = ((number, task) for number, each in enumerate(queued) for task in waits(*each, buffers))
            late = [(queued[number], task) for number, task in asked if tuple(task) in queued[number:]]
        except (TypeError, ValueError, KeyError) as error:
            return f"Not yet: a list of tasks such as ('copy in', 0) is expected ({type(error).__name__}: {error})."
        if late:
            (stage, chunk), task = late[0]
            return f"Not yet: {stage} {chunk} waits for {task}, which is queued only after it. {case}."
        for first, uses, second, fault in _NEEDS:
            for chunk in range(uses * buffers, chunks):
                if spans[second, chunk][0] < spans[first, chunk - uses * buffers][1]:
                    return f"Not yet: chunk {chunk} {fault}. {case}."
        best, taken = duration(schedule(_ring(_needed, chunks, buffers), took)), duration(spans)
        if taken > best:
            return f"Not yet: in order, but {taken} s for {chunks} chunks, where {best} s are enough. {case}."
    return f"Right for {len(cases)} pipelines: nothing too early, and no wait that costs time."


def _needed(stage: str, chunk: int, buffers: int) -> list[tuple[str, int]]:
    return [(first, chunk - uses * buffers) for first, uses, second, _ in _NEEDS if second == stage]
