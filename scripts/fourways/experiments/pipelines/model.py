"""A model of streams: when each stage of each chunk of a pipeline runs. It needs no GPU."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fourways.experiments.pipelines.recorded import STAGES

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
