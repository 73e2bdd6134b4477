"""Kernels in streams: side by side, with priorities, in a CUDA graph, and what other libraries know of a stream."""

import functools
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from fourways import tables, timing
from fourways.experiments.pipelines.copies import finished
from fourways.tables import Column, Row, Table, summary
from fourways.ways import WAYS, is_host

_BUSY = r"""
extern "C" __global__ void busy(float *never, int steps)
{
    float v = 0.001f * threadIdx.x;
    for (int step = 0; step < steps; ++step)
        v = v * v - 0.7f; // stays below 2
    if (v > 2)
        *never = v; // else the compiler would drop the loop
}
"""


def busy(streams: Sequence[Any], blocks: int, steps: int = 2**17) -> None:
    """Launch, on each of the streams, `blocks` blocks of 256 threads that compute so many steps and use no memory."""
    kernel, never = _busy()
    for stream in streams:
        kernel((blocks,), (256,), (never, np.int32(steps)), stream=stream)


@functools.cache
def _busy() -> tuple[Any, Any]:
    import cupy as cp

    return cp.RawModule(code=_BUSY).get_function("busy"), cp.zeros(1, np.float32)


def side_by_side(*blocks: int) -> Table:
    """Time kernels with each number of blocks (host clock), in turns: one, four in one stream, four in four streams."""
    import cupy as cp

    four = [cp.cuda.Stream(non_blocking=True) for _ in range(4)]
    cases = {"one kernel": four[:1], "four in one stream": 4 * four[:1], "four in four streams": four}
    named = itertools.product(blocks, cases.items())
    return finished(
        "side_by_side", {f"{count:,} blocks, {case}": partial(busy, streams, count) for count, (case, streams) in named}
    )


def priorities(long: int, short: int, steps: int = 2**14) -> Table:
    """Time how long the host waits for kernels of `long` and `short` blocks (host clock), in turns.

    The kernels are those of `busy`, alone and one after the other. The short one follows the long one in a stream of
    its own, which has the same priority as the stream of the long one (0) or a higher one (-1).
    """
    import cupy as cp

    first, same, higher = (cp.cuda.Stream(non_blocking=True, priority=priority) for priority in (0, 0, -1))
    cases = {
        "the long kernel alone": [(first, long)],
        "the short kernel alone": [(same, short)],
        "the short one after the long one": [(first, long), (same, short)],
        "the same, with priority -1": [(first, long), (higher, short)],
    }

    def sample(kernels: Sequence[tuple[Any, int]]) -> float:
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        for stream, blocks in kernels:
            busy([stream], blocks, steps)
        stream.synchronize()
        return time.perf_counter() - start

    samples = timing.in_turns({title: partial(sample, kernels) for title, kernels in cases.items()}, 21)
    cp.cuda.Device().synchronize()
    rows = [{"wait for": title, "clock": "host", "seconds": summary(taken)} for title, taken in samples.items()]
    return Table("priorities", rows, ["wait for", "seconds", tables.RANGE])


def lent(stream: Any) -> Any:
    """Return CuPy's stream for a stream of PyCUDA, which PyCUDA's stream must outlive."""
    import cupy as cp

    protocol = SimpleNamespace(__cuda_stream__=lambda: (0, stream.handle))  # version, address
    return cp.cuda.Stream.from_external(protocol)


def record(stream: Any, work: Callable[[], Any]) -> Any:
    """Capture what `work` queues on CuPy's `stream`, and return the graph."""
    stream.begin_capture()
    work()
    return stream.end_capture()


def graphs(
    twenty: Callable[[Callable[..., Any]], None], launches: Mapping[str, Callable[..., Any]], side: Any
) -> Table:
    """Time `twenty(launch)`, twenty launches on CuPy's stream `side`, one by one and as a graph (host clock), in turns.

    The ways are those of `launches` that take CuPy's streams.
    *Paid after* is the time of a recording divided by the time that the graph saves at each of its launches.
    """
    calls: dict[str, Callable[[], Any]] = {}
    taking = [way for way in launches if not WAYS[way].has_own_streams and not is_host(way)]
    for way in taking:
        loop = partial(twenty, launches[way])
        calls[f"{way}, one by one"] = loop
        calls[f"{way}, graph"] = partial(record(side, loop).launch, side)
        calls[f"{way}, recording"] = partial(record, side, loop)
    taken = {row["way"]: row["seconds"] for row in finished("graph", calls).rows}
    rows: list[Row] = []
    for way in taking:
        loop, graph, recording = (taken[f"{way}, {what}"] for what in ("one by one", "graph", "recording"))
        row = {"way": way, "clock": "host"}
        row |= {"loop_seconds": loop, "graph_seconds": graph, "recording_seconds": recording}
        row |= {"loop_each_seconds": loop["median"] / 20, "graph_each_seconds": graph["median"] / 20}
        rows.append(row | {"paid_after": recording["median"] / (loop["median"] - graph["median"])})
    columns: list[Column] = [
        "way",
        ("one by one, each", "loop_each_seconds"),
        ("in the graph, each", "graph_each_seconds"),
        "recording_seconds",
        ("paid after", lambda row: f"{row['paid_after']:.1f} launches" if row["paid_after"] > 0 else "never"),
    ]
    return Table("graph", rows, columns)


class Interface:
    """An array by `__cuda_array_interface__` alone. It names the stream that fills the array, an address or None."""

    def __init__(self, array: Any, stream: int | None) -> None:
        self.__cuda_array_interface__ = array.__cuda_array_interface__ | {"stream": stream}


class DLPack:
    """An array on the GPU by DLPack alone."""

    def __init__(self, array: Any) -> None:
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__
