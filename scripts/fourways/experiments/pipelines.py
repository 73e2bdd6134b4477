"""What lesson 11 measures: pipelines of copies and kernels, kernels side by side, a kernel that waits, and CUDA graphs.

The pipelines stand in the lesson, as functions `run(launch, queues, x, y, z)` that queue `z = 2.5 * x + y`. A model of
streams needs no GPU, and neither do the judges of the lesson's exercises.
"""

import functools
import inspect
import itertools
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np

from fourways import figures, tables, timeline, timing
from fourways.tables import Column, Row, Table, summary
from fourways.ways import WAYS, is_host

CHUNKS, SIZE = 16, 2**22
"""The chunks of each array, and the floats of a chunk."""
Arrays = tuple[Any, Any, Any]
"""x, y and z in the host's memory, float32 of the shape (chunks, floats)."""
Run = tuple[Callable[..., Any], Callable[..., Any], Any, Arrays]
"""A pipeline, and its arguments: the way to launch a kernel, its queues, its arrays."""
Task = tuple[str, int, int, Iterable[tuple[str, int]]]
"""A stage, a chunk, a stream, and the tasks (stage, chunk) to wait for."""
Waits = Callable[[str, int, int], Iterable[tuple[str, int]]]
"""A function of a stage, a chunk and the number of buffers that returns the tasks (stage, chunk) to wait for."""

_RECORDED_AS = {
    "copy in": {"kind": "copy", "name": "host to device"},
    "compute": {"kind": "kernel", "name": "kernel"},
    "copy out": {"kind": "copy", "name": "device to host"},
}
STAGES = tuple(_RECORDED_AS)
"""The stages of a pipeline, in order. A GPU can work on all three at the same time."""

_FACTOR = np.float32(2.5)
_HAIRLINE = 0.3  # points: keeps very short kernels visible
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


def arrays(chunks: int = CHUNKS, size: int = SIZE, pinned: bool = True) -> Arrays:
    """Return x and y with random whole numbers below 1000, and z with zeros, in the host's memory, pinned or not."""
    import cupyx

    x, y, z = ((cupyx.empty_pinned if pinned else np.empty)((chunks, size), np.float32) for _ in range(3))
    numbers = np.random.default_rng(11)
    for each in (x, y):
        each[:] = numbers.integers(1000, size=each.shape, dtype=np.int32)
    z.fill(0)
    return x, y, z


def _done(call: Callable[[], Any]) -> Callable[[], None]:
    """Return a function that calls, and waits for the GPU."""
    import cupy as cp

    def called() -> None:
        call()
        cp.cuda.Device().synchronize()

    return called


def finished(name: str, calls: Mapping[str, Callable[[], Any]]) -> Table:
    """Time calls until all that they queued is done (host clock), in turns. `name` is the table's name."""
    timed = timing.time_calls({what: _done(call) for what, call in calls.items()}, clock="host", name=name)
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
        _done(calls[what])()
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


def timelines(pipeline: Callable[..., Any], queues: Callable[..., Any]) -> dict[str, list[Row]]:
    """Record pipelines by CUPTI in a process of its own, on smaller arrays; return the rows of each by its title.

    The process gets the text of both functions. Prints why, and returns nothing, if this machine cannot record.
    """
    functions = "\n\n".join(map(inspect.getsource, (queues, pipeline)))
    try:
        with TemporaryDirectory() as folder:
            path = Path(folder, "pipelines.py")
            path.write_text(_PROGRAM.format(functions=functions, runs=_RECORDED), encoding="utf-8")
            rows = timeline.of_program(path)
    except timeline.TimelineError as error:
        print(error)
        return {}
    return {title: timeline.part(rows, title) for title, _, _ in _RECORDED[1:]}


def stage(row: Row) -> str | None:
    """Return the stage of `STAGES` that a row of a timeline belongs to, or None."""
    if row["kind"] in ("kernel", "graph"):
        return "compute"
    return next((name for name, known in _RECORDED_AS.items() if known == {key: row[key] for key in known}), None)


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
    samples: dict[str, list[float]] = {title: [] for title in cases}
    for title in timing.turns(25, list(cases)):
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        for stream, blocks in cases[title]:
            busy([stream], blocks, steps)
        stream.synchronize()
        samples[title].append(time.perf_counter() - start)
    cp.cuda.Device().synchronize()
    rows = [{"wait for": title, "clock": "host", "seconds": summary(each[4:])} for title, each in samples.items()]
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
        row = {"way": way, "clock": "host", "loop_seconds": loop, "graph_seconds": graph}
        row |= {"recording_seconds": recording}
        row |= {"loop_each_seconds": loop["median"] / 20, "graph_each_seconds": graph["median"] / 20}
        rows.append(row | {"paid_after": recording["median"] / (loop["median"] - graph["median"])})
    columns: list[Column] = [
        "way",
        ("one by one, each", "loop_each_seconds"),
        ("in the graph, each", "graph_each_seconds"),
        ("recording", "recording_seconds"),
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


def check_shortest(shortest: Callable[[int, Mapping[str, float]], float]) -> str:
    """Judge `shortest(chunks, seconds)`: the seconds of a pipeline in the model, with a stream for each chunk.

    It is tried on random times of the three stages. The last case has so many chunks that the model is too slow.
    """
    numbers = random.Random()
    cases: list[tuple[int, Sequence[int]]] = [
        (1, (2, 3, 4)),
        (8, (2, 1, 1)),
        (5, (1, 3, 1)),
        (7, (1, 1, 4)),
        (6, (2, 2, 2)),
    ]
    cases += [(numbers.randint(2, 40), numbers.sample(range(1, 50), 3)) for _ in range(20)]
    for chunks, times in [*cases, (300_000, (3, 1, 2))]:
        took = dict(zip(STAGES, times, strict=True))
        right = sum(times) + (chunks - 1) * max(times)
        case = f"{chunks:,} chunk{'s' * (chunks > 1)} of {', '.join(f'{name} {each} s' for name, each in took.items())}"
        start = time.process_time()
        answer = shortest(chunks, took)
        if time.process_time() - start > 0.15:
            return f"Not yet: right so far, but slow for {case}. Find a formula that needs no loop."
        if not isinstance(answer, int | float | np.number):
            return f"Not yet: {answer!r} came for {case}; expected is a number of seconds."
        if abs(answer - right) > 1e-9 * right:
            return f"Not yet: {answer:g} s for {case} is too {'long' if answer > right else 'short'}."
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
    cases: list[tuple[int, Sequence[int]]] = [
        (3, (2, 1, 1)),
        (3, (1, 4, 1)),
        (2, (3, 1, 3)),
        (1, (1, 1, 1)),
        (4, (1, 1, 9)),
    ]
    cases += [(numbers.randint(1, 6), numbers.sample(range(1, 12), 3)) for _ in range(40)]
    for buffers, times in cases:
        took, chunks = dict(zip(STAGES, times, strict=True)), 4 * buffers + 1
        case = f"With {buffers} buffer{'s' * (buffers > 1)} and times of {', '.join(map(str, times))} s"
        try:
            spans = schedule(_ring(waits, chunks, buffers), took)
        except (TypeError, ValueError, KeyError) as error:
            return f"Not yet: a list of tasks such as ('copy in', 0) is expected ({type(error).__name__}: {error})."
        queued = [(stage, chunk) for stage, chunk, _, _ in _ring(_needed, chunks, buffers)]
        for number, (stage, chunk) in enumerate(queued):
            if later := [task for task in waits(stage, chunk, buffers) if tuple(task) in queued[number:]]:
                return f"Not yet: {stage} {chunk} waits for {later[0]}, which is queued only after it. {case}."
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
