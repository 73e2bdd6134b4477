"""Time every way of a kernel by the same timer: warm, with a cold L2 cache, and the cost of a launch.

*device* is the time between two CUDA events around one call on the GPU, *host* the time of the Python call. *warm*
follows the same call, so inputs are in the L2 cache as far as they fit. *cold L2* empties that cache before each call,
by reading other data. *launch (host)* is the host's time for a call that it does not wait for. *launch (graph)* is the
GPU's time for a kernel of one element (for a case, of its smallest size) that a CUDA graph repeats.

A way whose answer is wrong before the samples or after them is not timed. The clocks are those of `timing`.
"""

import contextlib
import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fourways import checking, timing, toolchain
from fourways.tables import RANGE, Column, Row, Table, summary
from fourways.ways import GPU_SIZE, HOST_SIZE, WAYS, Ways, is_host

COPY = "device copy"


def time_sizes(
    ways: Ways, sizes: Sequence[int] = (), progress: Callable[[str], None] = lambda _: None
) -> Iterator[Table]:
    """Time every way that can run here at every size (in elements); by default at GPU_SIZE, on the CPU at HOST_SIZE.

    Yields the table of all rows so far after each size. `progress` is called with a text before each size. A size that
    does not fit into memory ends the sizes: the last table's note says so.
    """
    rows: list[Row] = []
    skipped = "; ".join(f"{way}: {reason}" for way, reason in ways.missing.items())
    for size in sizes or [GPU_SIZE]:
        try:
            progress(f"{size:,} elements")
            for gpu in toolchain.gpus()[:1]:  # before the host makes them: some systems kill a process for its size
                if 8 * size > gpu.memory_bytes:
                    needed = f"two arrays of {size:,} floats take {8 * size:,} bytes"
                    raise MemoryError(f"{needed}; {gpu.name} has {gpu.memory_bytes:,}")
            for on_host in (False, True):
                names = [way for way in ways.runnable if is_host(way) is on_host]
                rows += time_ways(ways, names, HOST_SIZE if on_host and not sizes else size)
        except MemoryError as error:  # NumPy's, or its subclass cupy.cuda.memory.OutOfMemoryError
            yield table(rows, f"{size:,} elements and more were not timed: {error}")
            return
        yield table(rows, f"Not timed: {skipped}" if skipped else "")


def time_ways(ways: Ways, names: Sequence[str], size: int) -> list[Row]:
    """Time ways at one size (in elements), and return a row for each, and one for a device-to-device copy.

    The ways on the GPU use the same arrays and take turns with the copy, which moves as many bytes. They are timed on
    CuPy's current stream: a way must launch there, or on the default stream while that is the current one.
    A row has `seconds` (warm), `cold_seconds`, and the two costs of a launch: `launch_seconds` by the host's clock, and
    `graph_seconds` by the GPU's, which is None if the way does not launch on CuPy's streams, or waits. `bytes` is the
    least that a kernel must move, every array once; `bytes_per_second` is for the warm median. An output in place gets
    its old contents before each sample.
    Raises CheckFailure, and returns no time, if a way's answer is wrong before the samples or after them.
    """
    question = ways.question(size) if names else ()
    _refuse_wrong(ways, names, size, question)
    rows = _time_on_gpu(ways, on_gpu, question) if (on_gpu := [way for way in names if not is_host(way)]) else []
    rows += [_time_on_host(ways, way, question) for way in filter(is_host, names)]
    _refuse_wrong(ways, names, size, question, "after the last timed call ")
    known = {"kernel": ways.kernel, "size": size}
    return [row | known | {"bytes_per_second": row["bytes"] / max(row["seconds"]["median"], 1e-9)} for row in rows]


def _refuse_wrong(ways: Ways, names: Sequence[str], size: int, question: tuple, when: str = "") -> None:
    for way in names:
        if problem := checking.verdict(ways.functions[way], way, *question):
            what = f"{ways.called(way)}, size {size}"
            raise checking.CheckFailure(f"{what}: {when}{problem}; a wrong answer is not timed")


def prepared(way: str, question: tuple) -> tuple[list[Any], Callable[[], None], int]:
    """Return a way's arguments in its memory, a function that restores the outputs in place, and the arrays' bytes.

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

    return arguments, restore, sum(value.nbytes for value in arguments if not isinstance(value, np.generic))


def _time_on_host(ways: Ways, way: str, question: tuple) -> Row:
    arguments, restore, moved = prepared(way, question)

    def sample() -> float:
        restore()
        start = time.perf_counter()
        ways.functions[way](*arguments)
        return time.perf_counter() - start

    (samples,) = timing.in_turns({way: sample}, rounds=9, warm_up=1).values()
    return {"way": way, "clock": "host", "bytes": moved, "seconds": summary(samples)}


def _time_on_gpu(ways: Ways, names: Sequence[str], question: tuple) -> list[Row]:
    arguments, restore, moved = prepared("gpu", question)
    calls: dict[str, timing.Call] = {way: functools.partial(ways.functions[way], *arguments) for way in names}
    calls[COPY] = timing.copy(moved)
    reads = timing.other_reads()
    warm = _between_events(calls, lambda call: (call(), restore()))
    cold = _between_events(calls, lambda _: (restore(), reads()))
    shared, launches = {"clock": "device", "bytes": moved}, _time_launches(ways, names)
    times = {way: {"seconds": warm[way], "cold_seconds": cold[way]} for way in calls}
    return [{"way": way, **shared, **times[way], **launches.get(way, {})} for way in calls]


def _between_events(calls: Mapping[str, timing.Call], before: Callable[[timing.Call], Any]) -> dict[str, Row]:
    """Return the summary of each call's seconds on the GPU; `before(call)` queues what comes before it, untimed."""
    samplers = {name: timing.between_events(call, functools.partial(before, call)) for name, call in calls.items()}
    samples = timing.in_turns(samplers, rounds=40)
    return {name: summary([sample - timing.events_add() for sample in taken]) for name, taken in samples.items()}


def _time_launches(ways: Ways, names: Sequence[str]) -> dict[str, Row]:
    """Return the cost of a launch for the host and for the GPU, by way: of the smallest kernel, in series of 100."""
    import cupy

    arguments, *_ = prepared("gpu", ways.question(min(filter(None, ways.sizes), default=1)))
    calls = {way: functools.partial(ways.functions[way], *arguments) for way in names}
    costs = {
        row["call"]: {"launch_seconds": row["seconds"], "graph_seconds": None} for row in timing.launches(calls).rows
    }
    graphs: dict[str, timing.Call] = {}
    for way in (way for way in names if not WAYS[way].has_own_streams):
        with contextlib.suppress(cupy.cuda.runtime.CUDARuntimeError):  # the call waits for something
            timing.captured(calls[way])
            graphs[way] = calls[way]
    for row in timing.in_graph(graphs).rows:
        costs[row["call"]]["graph_seconds"] = row["seconds"]
    return costs


def table(rows: Sequence[Row], note: str = "") -> Table:
    """Show rows of `time_ways`. A column without content is left out."""
    times = ("warm median", "seconds"), RANGE, ("cold L2", "cold_seconds")
    launches = ("launch (host)", "launch_seconds"), ("launch (graph)", "graph_seconds")
    columns: list[Column] = ["way", ("elements", "size"), "clock", *times, "bytes_per_second", *launches]
    shown = Table("timing", rows, columns, note).columns
    return Table("timing", rows, [(heading, cell) for heading, cell in shown if any(map(cell, rows))], note)
