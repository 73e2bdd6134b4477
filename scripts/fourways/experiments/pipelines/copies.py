"""Pipelines of copies and kernels: timed against the stages of which they consist, recorded by CUPTI, and drawn."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from fourways import figures, measuring, tables, timeline
from fourways.tables import Column, Row, Table
from fourways.ways import WAYS, is_host

STAGES = ("copy in", "compute", "copy out")
"""The stages of a pipeline, in order. A GPU can work on all three at the same time."""
_COPIES = {"host to device": "copy in", "device to host": "copy out"}
_HAIRLINE = 0.3  # points: keeps very short kernels visible
_PROGRAM = """
import cupy as cp
import numpy as np
from cupyx.profiler import time_range

from fourways import lesson
from fourways.experiments import pipelines

{functions}

launch = lesson.load(lesson.find("11"), ["nvrtc"]).functions["nvrtc"]
arrays = {{memory: pipelines.arrays(12, 2**21, memory == "pinned") for memory in ("pinned", "pageable")}}
for name, memory, count in {runs!r}:
    mine = queues(count, 2**21)
    cp.cuda.Device().synchronize()
    with time_range(name):
        pipeline(launch, mine, *arrays[memory])
        cp.cuda.Device().synchronize()
"""
_RECORDED = (
    ("warm-up", "pinned", 1),
    ("pinned, 1 stream", "pinned", 1),
    ("pinned, 3 streams", "pinned", 3),
    ("pageable, 3 streams", "pageable", 3),
)


def timelines(pipeline: Callable[..., Any], queues: Callable[..., Any]) -> dict[str, list[Row]]:
    """Record pipelines by CUPTI in a process of its own, on smaller arrays; return the rows of each by its title.

    The process gets the text of both functions. Prints why, and returns nothing, if this machine cannot record.
    """
    functions = "\n\n".join(map(inspect.getsource, (queues, pipeline)))
    try:
        rows = timeline.record(_PROGRAM.format(functions=functions, runs=_RECORDED))
    except timeline.TimelineError as error:
        print(error)
        return {}
    return {title: timeline.part(rows, title) for title, _, _ in _RECORDED[1:]}


def stage(row: Row) -> str | None:
    """Return the stage of `STAGES` that a row of a timeline belongs to, or None."""
    if row["kind"] == "copy":
        return _COPIES.get(row["name"])
    return "compute" if row["kind"] in ("kernel", "graph") else None


def figure(panels: Mapping[str, Sequence[Row]], title: str = "") -> Any:
    """Draw the times at which a GPU copied and computed: `panels[name]` are the rows of a timeline.

    Each panel has a lane for each of `STAGES` and a colour for each stream. Time starts with the panel's first work,
    and all panels have the same scale. Returns None without panels; raises ValueError if a panel has no such work.
    """
    if not panels:
        return None
    drawn, axes = figures.new((4.8, 0.8 + 1.05 * len(panels)), len(panels), sharex=True, squeeze=False)
    for panel, (name, rows) in zip(axes[:, 0], panels.items(), strict=True):
        tasks = [row for row in rows if stage(row)]
        if not tasks:
            raise ValueError(f"{name}: no copies and no kernels to draw")
        first = min(row["start_seconds"] for row in tasks)
        streams = list(dict.fromkeys(row["stream"] for row in tasks))
        colours = {each: figures.STAGE_COLOURS[1 + number % 6] for number, each in enumerate(streams)}
        for lane, wanted in enumerate(STAGES):
            part = [row for row in tasks if stage(row) == wanted]
            bars = [(1e3 * (row["start_seconds"] - first), 1e3 * row["seconds"]) for row in part]
            look = [colours[row["stream"]] for row in part]
            panel.broken_barh(bars, (lane - 0.38, 0.76), facecolors=look, edgecolors=look, linewidth=_HAIRLINE)
        panel.set_yticks(range(len(STAGES)), STAGES)
        panel.set_ylim(len(STAGES) - 0.5, -0.5)
        taken = max(row["start_seconds"] + row["seconds"] for row in tasks) - first
        panel.set_title(f"{name}: {tables.seconds(taken)}", loc="left", fontsize=8)
    axes[-1, 0].set_xlabel("ms, a colour for each stream")
    drawn.suptitle(title)
    return drawn


CHUNKS, SIZE = 16, 2**22
"""The chunks of each array, and the floats of a chunk."""
Arrays = tuple[Any, Any, Any]
"""x, y and z in the host's memory, float32 of the shape (chunks, floats)."""
Run = tuple[Callable[..., Any], Callable[..., Any], Any, Arrays]
"""A pipeline, and its arguments: the way to launch a kernel, its queues, its arrays."""
_FACTOR = np.float32(2.5)


def arrays(chunks: int = CHUNKS, size: int = SIZE, pinned: bool = True) -> Arrays:
    """Return x and y with random whole numbers below 1000, and z with zeros, in the host's memory, pinned or not."""
    import cupyx

    x, y, z = ((cupyx.empty_pinned if pinned else np.empty)((chunks, size), np.float32) for _ in range(3))
    numbers = np.random.default_rng(11)
    for each in (x, y):
        each[:] = numbers.integers(1000, size=each.shape, dtype=np.int32)
    z.fill(0)
    return x, y, z


def finished(name: str, calls: Mapping[str, Callable[[], Any]]) -> Table:
    """Time calls until all that they queued is done (host clock), in turns. `name` is the table's name."""
    timed = measuring.time_calls(
        {what: measuring.until_done(call) for what, call in calls.items()}, clock="host", name=name
    )
    return Table(name, timed.rows, [("work", "way"), "seconds", tables.RANGE])


def stages(launch: Callable[..., Any], queues: Sequence[Any], arrays: Arrays) -> Table:
    """Time each stage of a pipeline alone, for all chunks, and the copies in both directions at once (host clock).

    `queues` are two streams, each with a chunk of x, y and z on the GPU. `launch` is called as in a pipeline.
    """
    (stream, x_gpu, y_gpu, z_gpu), (second, *_) = queues
    x, y, z = arrays

    def copy_in(row: int) -> None:
        x_gpu.set(x[row], stream=stream)
        y_gpu.set(y[row], stream=stream)

    def copy_out(row: int, stream: Any = stream) -> None:
        z_gpu.get(stream=stream, out=z[row], blocking=False)

    def both(row: int) -> None:
        copy_in(row)
        copy_out(row, second)

    works = {
        "copy in": copy_in,
        "compute": lambda _: launch(_FACTOR, x_gpu, y_gpu, z_gpu, stream),
        "copy out": copy_out,
        "copies in and out at once": both,
    }

    def all_rows(work: Callable[[int], Any]) -> None:
        for row in range(len(x)):
            work(row)

    return finished("alone", {stage: partial(all_rows, work) for stage, work in works.items()})


def race(name: str, runs: Mapping[str, Run], alone: Table) -> Table:
    """Time pipelines until their results are there (host clock), in turns; count the wrong elements of each first run.

    The column *bound* has the time of the busiest stage in `alone`, the table of `stages`, as a share of the median.
    """
    bound = max(row["seconds"]["median"] for row in alone.rows if row["way"] in STAGES)
    calls, wrong = {}, {}
    for what, (run, launch, queues, (x, y, z)) in runs.items():
        calls[what] = partial(run, launch, queues, x, y, z)
        z.fill(np.nan)
        measuring.until_done(calls[what])()
        wrong[what] = int(np.count_nonzero(z != _FACTOR * x + y))
    rows = [
        {"what": row["way"], "clock": "host", "seconds": row["seconds"]}
        | {"bound_seconds": bound, "wrong": wrong[row["way"]]}
        for row in finished(name, calls).rows
    ]
    columns: list[Column] = [
        ("pipeline", "what"),
        "seconds",
        tables.RANGE,
        ("bound / median", lambda row: f"{row['bound_seconds'] / row['seconds']['median']:.0%}"),
        ("result", lambda row: f"{row['wrong']:,} wrong" if row["wrong"] else "right"),
    ]
    return Table(name, rows, columns)


def two_streams(
    launches: Mapping[str, Callable[..., Any]],
    pipeline: Callable[..., Any],
    queues: Callable[[int], Any],
    arrays: Arrays,
) -> dict[str, Run]:
    """Return the pipeline with two streams in each GPU way of `launches`; PyCUDA's has its own streams and copies."""
    runs: dict[str, Run] = {}
    for way, launch in launches.items():
        if WAYS[way].has_own_streams:
            import pycuda.driver as drv

            own = [(drv.Stream(1), *chunk) for _, *chunk in queues(2)]  # 1: non-blocking
            runs[f"{way}, streams: 2"] = by_pycuda, launch, own, arrays
        elif not is_host(way):
            runs[f"{way}, streams: 2"] = pipeline, launch, queues(2), arrays
    return runs


def by_pycuda(launch: Callable[..., Any], queues: Sequence[Any], x: Any, y: Any, z: Any) -> None:
    """Queue the lesson's pipeline with PyCUDA's copies; `queues` have PyCUDA's streams, and CuPy's arrays."""
    import pycuda.driver as drv

    for row in range(len(x)):
        stream, x_gpu, y_gpu, z_gpu = queues[row % len(queues)]
        drv.memcpy_htod_async(x_gpu.data.ptr, x[row], stream)
        drv.memcpy_htod_async(y_gpu.data.ptr, y[row], stream)
        launch(_FACTOR, x_gpu, y_gpu, z_gpu, stream)
        drv.memcpy_dtoh_async(z[row], z_gpu.data.ptr, stream)
