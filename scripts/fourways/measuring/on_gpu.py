"""Ways on a GPU, timed on the same arrays: warm, with a cold L2 cache, and what a launch costs."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fourways import checking, timing
from fourways.measuring.clocks import measure
from fourways.tables import Row, summary
from fourways.ways import WAYS, Ways, is_host


def prepared(way: str, question: tuple) -> tuple[list[Any], Callable[[], None]]:
    """Return the arguments of a way's function in its memory, and a function that restores the outputs in place.

    `question` is that of `Ways`. Outputs that are not in place hold poison.
    """
    inputs, expected, _, in_place, *_ = question
    fresh = checking.fresh_outputs(inputs, expected, in_place)
    arguments = [checking.place(way, value) for value in (*inputs, *fresh)]
    pairs = [(arguments[len(inputs) + output], arguments[source]) for output, source in in_place.items()]

    def restore() -> None:
        for output, source in pairs:
            if is_host(way):
                output[...] = source
            else:  # also for structs, which CuPy cannot assign
                output.data.copy_from_device_async(source.data, source.nbytes)

    return arguments, restore


def size_of(arguments: Sequence[Any]) -> int:
    """Return the bytes of the arrays."""
    return sum(value.nbytes for value in arguments if not isinstance(value, np.generic))


def time_on_gpu(ways: Ways, names: Sequence[str], question: tuple) -> dict[str, Row]:
    """Return what `time_ways` measures of ways on the GPU."""
    if not names:
        return {}
    arguments, restore = prepared("gpu", question)
    calls = [functools.partial(ways.functions[way], *arguments) for way in names]
    warm, cold = (measure(calls, is_cold, restore) for is_cold in (False, True))
    moved = {"bytes": size_of(arguments), "clock": "device"}
    launches = _time_launches(ways, names)
    return {
        way: moved | {"seconds": summary(warm[number]), "cold_seconds": summary(cold[number]), **launches[way]}
        for number, way in enumerate(names)
    }


def _time_launches(ways: Ways, names: Sequence[str]) -> dict[str, Row]:
    """Return the cost of a launch for the host and for the GPU, by way: of the smallest kernel, in series of 100."""
    arguments, _ = prepared("gpu", ways.question(min(filter(None, ways.sizes), default=1)))
    calls = {way: functools.partial(ways.functions[way], *arguments) for way in names}
    capturable = {way: call for way, call in calls.items() if not WAYS[way].has_own_streams and _fits_a_graph(call)}
    queued = {row["call"]: row["seconds"] for row in timing.launches(calls).rows}
    graph = {row["call"]: row["seconds"] for row in timing.in_graph(capturable).rows}
    return {way: {"launch_seconds": queued[way], "graph_seconds": graph.get(way)} for way in names}


def _fits_a_graph(call: timing.Call) -> bool:
    """Return whether a CUDA graph can hold this call, which must wait for nothing."""
    import cupy

    try:
        timing.captured(call)
    except cupy.cuda.runtime.CUDARuntimeError:
        return False
    return True
