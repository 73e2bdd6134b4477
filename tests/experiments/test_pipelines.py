"""Lesson 11's plumbing on a CUDA of NumPy, the drawing of its timelines, the model of streams, the judges."""

import math
import random
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fourways import tables, timeline
from fourways.experiments import pipelines
from fourways.experiments.pipelines.streams import _busy


class Stream:
    """A stream that does its work at once."""

    def __init__(self, **options: Any) -> None:
        self.options = options

    def synchronize(self) -> None: ...

    def begin_capture(self) -> None: ...

    def end_capture(self) -> Any:
        return SimpleNamespace(launch=lambda stream: None)


class Array(np.ndarray):
    """CuPy's array, in the host's memory."""

    def set(self, array: np.ndarray, stream: Stream) -> None:
        self[...] = array

    def get(self, stream: Stream, out: np.ndarray, blocking: bool) -> None:
        out[...] = self


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    """The launches of `busy`: grid, block, arguments, stream."""
    log: list[tuple] = []

    def kernel(grid: tuple, block: tuple, arguments: tuple, stream: Stream) -> None:
        log.append((grid, block, arguments, stream))

    cupy = ModuleType("cupy")
    cupy.__dict__.update(
        cuda=SimpleNamespace(Stream=Stream, Device=lambda: SimpleNamespace(synchronize=lambda: None)),
        RawModule=lambda code: SimpleNamespace(get_function=lambda name: kernel),
        zeros=np.zeros,
    )
    cupyx = ModuleType("cupyx")
    cupyx.__dict__["empty_pinned"] = np.empty
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setitem(sys.modules, "cupyx", cupyx)
    _busy.cache_clear()
    return log


def queues(count: int, size: int = 5) -> list[tuple]:
    return [(Stream(), *np.zeros((3, size), np.float32).view(Array)) for _ in range(count)]


def saxpy(a: float, x: Array, y: Array, z: Array, stream: Stream) -> None:
    z[...] = a * x + y


def pipeline(launch: Callable[..., None], queues: list[tuple], x: Any, y: Any, z: Any) -> None:
    for row, (stream, x_gpu, y_gpu, z_gpu) in zip(range(len(x)), queues * len(x), strict=False):
        x_gpu.set(x[row], stream=stream)
        y_gpu.set(y[row], stream=stream)
        launch(2.5, x_gpu, y_gpu, z_gpu, stream)
        z_gpu.get(stream=stream, out=z[row], blocking=False)


def test_pipelines_are_timed_and_their_wrong_elements_counted(launched: list[tuple]) -> None:
    arrays = pipelines.arrays(chunks=4, size=5)
    assert arrays[0].max() > 0 == arrays[2].max()
    alone = pipelines.stages(saxpy, queues(2), arrays)
    assert [row["way"] for row in alone.rows] == [*pipelines.STAGES, "copies in and out at once"]
    runs = {
        "right": (pipeline, saxpy, queues(3), arrays),
        "too early": (pipeline, lambda a, x, y, z, stream: None, queues(3), arrays),
    }
    table = pipelines.race("overlap", runs, alone)
    assert [row["wrong"] for row in table.rows] == [0, 20]
    assert [cells[-1] for cells in table.cells()] == ["right", "20 wrong"]
    bound = max(row["seconds"]["median"] for row in alone.rows[:3])
    assert {row["bound_seconds"] for row in table.rows} == {bound}


def test_every_gpu_way_gets_two_streams_and_pycuda_its_own(
    launched: list[tuple], monkeypatch: pytest.MonkeyPatch
) -> None:
    copies: list[str] = []
    driver = ModuleType("pycuda.driver")
    driver.__dict__.update(
        Stream=lambda flags: Stream(flags=flags),
        memcpy_htod_async=lambda to, array, stream: copies.append("in"),
        memcpy_dtoh_async=lambda array, from_, stream: copies.append("out"),
    )
    monkeypatch.setitem(sys.modules, "pycuda", SimpleNamespace(driver=driver))
    monkeypatch.setitem(sys.modules, "pycuda.driver", driver)
    arrays = pipelines.arrays(4, 5, pinned=False)
    runs = pipelines.two_streams(dict.fromkeys(("nvrtc", "pycuda", "host"), saxpy), pipeline, queues, arrays)
    assert list(runs) == ["nvrtc, streams: 2", "pycuda, streams: 2"]
    run, _, own, _ = runs["pycuda, streams: 2"]
    assert run is pipelines.by_pycuda and own[0][0].options == {"flags": 1} and len(own) == 2
    own = [(stream, *(SimpleNamespace(data=SimpleNamespace(ptr=0)) for _ in range(3))) for stream, *_ in own]
    streams: list[Stream] = []
    pipelines.by_pycuda(lambda *arguments: streams.append(arguments[-1]), own, *arrays)
    assert copies == ["in", "in", "out"] * 4
    assert streams == [own[0][0], own[1][0]] * 2


def test_kernels_side_by_side_in_one_stream_and_in_four(launched: list[tuple]) -> None:
    table = pipelines.side_by_side(16, 1056)
    cases = ("one kernel", "four in one stream", "four in four streams")
    assert [row["way"] for row in table.rows] == [f"{n} blocks, {case}" for n in ("16", "1,056") for case in cases]
    assert {(grid, block) for grid, block, *_ in launched} == {((16,), (256,)), ((1056,), (256,))}
    assert len({stream for *_, stream in launched}) == 4


def test_a_short_kernel_follows_a_long_one_with_both_priorities(launched: list[tuple]) -> None:
    table = pipelines.priorities(long=100, short=2)
    assert len(table.rows) == 4 and all(row["seconds"]["samples"] == 21 for row in table.rows)
    seen = {(grid[0], stream.options["priority"]) for grid, _, _, stream in launched}
    assert seen == {(100, 0), (2, 0), (2, -1)}
    assert len({stream for *_, stream in launched}) == 3


def test_a_graph_is_compared_with_its_launches(launched: list[tuple]) -> None:
    calls: list[str] = []
    launches = {way: lambda way=way: calls.append(way) for way in ("nvrtc", "pycuda", "pybind11", "host")}
    table = pipelines.graphs(lambda launch: [launch() for _ in range(20)], launches, Stream())
    assert [row["way"] for row in table.rows] == ["nvrtc", "pybind11"] and set(calls) == {"nvrtc", "pybind11"}
    row = table.rows[0]
    assert row["loop_each_seconds"] == row["loop_seconds"]["median"] / 20


def test_the_program_that_is_recorded_is_python(monkeypatch: pytest.MonkeyPatch) -> None:
    def of_program(text: str) -> list[tables.Row]:
        compile(text, "program", "exec")
        assert "def queues(" in text and "def pipeline(" in text
        raise timeline.TimelineError("no timeline: no GPU")

    monkeypatch.setattr(timeline, "of_program", of_program)
    assert pipelines.timelines(pipeline, queues) == {} and pipelines.figure({}) is None


def work(stage: str, stream: int, start: float, seconds: float) -> tables.Row:
    copies = {"copy in": "host to device", "copy out": "device to host"}
    recorded = {"kind": "copy", "name": copies[stage]} if stage in copies else {"kind": "kernel", "name": "saxpy"}
    return recorded | {"stream": stream, "start_seconds": start, "seconds": seconds}


def test_the_figure_has_a_lane_for_each_stage_and_a_colour_for_each_stream() -> None:
    rows = [
        {"kind": "API call", "name": "cudaMemcpyAsync", "clock": "host", "start_seconds": 0.0, "seconds": 99.0},
        work("copy in", 7, 10.0, 2.0),
        work("compute", 7, 12.0, 1.0),
        work("copy in", 8, 12.0, 2.0),
        work("copy out", 7, 13.0, 1.5),
        work("compute", 8, 14.0, 1.0) | {"kind": "graph", "name": "graph 1"},
        work("copy out", 8, 15.0, 1.0),
        work("compute", 8, 16.0, 50.0) | {"kind": "copy", "name": "device to device"},
    ]
    drawn = pipelines.figure({"two streams": rows, "the first": rows[:3]}, "saxpy")
    whole, first = drawn.axes
    assert [label.get_text() for label in whole.get_yticklabels()] == ["copy in", "compute", "copy out"]
    assert whole.get_title(loc="left") == "two streams: 6.00 s"
    assert drawn.get_suptitle() == "saxpy"
    assert whole.get_xlim() == first.get_xlim(), "one scale"
    for lane in whole.collections:
        colours = {tuple(colour) for colour in lane.get_facecolor()}
        assert len(colours) == len(lane.get_paths()) == 2, "two bars, two streams"
    assert whole.collections[0].get_paths()[0].get_extents().x0 == 0, "time starts with the first work"
    assert first.collections[0].get_paths()[0].get_extents().width == pytest.approx(2000), "ms"
    with pytest.raises(ValueError, match="no copies and no kernels"):
        pipelines.figure({"nothing": rows[:1]})


def test_the_model_overlaps_chunks_of_different_streams() -> None:
    took = {"copy in": 2, "compute": 1, "copy out": 1}
    assert pipelines.duration(pipelines.schedule(pipelines.in_turns(8, 1), took)) == 8 * 4
    two = pipelines.schedule(pipelines.in_turns(8, 2), took)
    assert pipelines.duration(two) == 8 * 2 + 2
    assert two["copy in", 1] == (2, 4) and two["compute", 0] == (2, 3)


def test_the_model_waits_for_what_came_before_and_for_nothing_else() -> None:
    took = {"copy in": 2, "compute": 1}
    tasks = [("compute", 0, 1, [("copy in", 0)]), ("copy in", 0, 0, []), ("compute", 1, 1, [("copy in", 0)])]
    assert pipelines.schedule(tasks, took) == {("compute", 0): (0, 1), ("copy in", 0): (0, 2), ("compute", 1): (2, 3)}


def shortest(chunks: int, seconds: dict[str, float]) -> float:
    return sum(seconds.values()) + (chunks - 1) * max(seconds.values())


def by_the_model(chunks: int, seconds: dict[str, float]) -> float:
    return pipelines.duration(pipelines.schedule(pipelines.in_turns(chunks, chunks), seconds))


def test_the_formula_is_that_of_the_model() -> None:
    for _ in range(30):
        took = dict(zip(pipelines.STAGES, (random.randint(1, 9) for _ in range(3)), strict=True))
        chunks = random.randint(1, 20)
        assert shortest(chunks, took) == by_the_model(chunks, took)
    assert pipelines.check_shortest(shortest).startswith("Right for 26 pipelines")
    assert pipelines.check_shortest(lambda chunks, seconds: np.float64(shortest(chunks, seconds))).startswith("Right")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda chunks, seconds: 0.0, "too short"),
        (lambda chunks, seconds: None, "None came"),
        (lambda chunks, seconds: math.nan, "is no number"),
        (lambda chunks, seconds: 10**400, "too long"),
        (lambda chunks, seconds: chunks * sum(seconds.values()), "too long"),
        (lambda chunks, seconds: shortest(chunks, seconds) + 1e-3, "too long"),
        (lambda chunks, seconds: seconds["copy in"] + shortest(chunks - 1, seconds), "too short"),
        (lambda chunks, seconds: sum(seconds.values()) + (chunks - 1) * seconds["copy in"], "too short"),
        (by_the_model, "Find a formula"),
    ],
)
def test_another_formula_is_not_right(wrong: Any, told: str) -> None:
    said = pipelines.check_shortest(wrong)
    assert said.startswith("Not yet: ") and told in said


def needed(stage: str, chunk: int, buffers: int) -> list[tuple[str, int]]:
    before = chunk - buffers
    return {
        "copy in": [("compute", before)],
        "compute": [("copy in", chunk), ("copy out", before)],
        "copy out": [("compute", chunk)],
    }[stage]


def test_all_waits_that_are_needed_are_right_and_so_are_some_that_cost_nothing() -> None:
    assert pipelines.check_waits(needed).startswith("Right for 45 pipelines")
    more = lambda stage, chunk, buffers: [*needed(stage, chunk, buffers), (stage, chunk - 1)]  # noqa: E731
    assert pipelines.check_waits(more).startswith("Right"), "its stream orders these anyway"


def leave_out(stage: str, number: int) -> Any:
    def waits(which: str, chunk: int, buffers: int) -> list[tuple[str, int]]:
        tasks = needed(which, chunk, buffers)
        return tasks[:number] + tasks[number + 1 :] if which == stage else tasks

    return waits


def add(stage: str, *task: Any) -> Any:
    """All that is needed, and a wait of `stage` for a stage of the chunk that is so many buffers or chunks before."""

    def waits(which: str, chunk: int, buffers: int) -> list[tuple[str, int]]:
        before, back, by_buffers = task
        extra = [(before, chunk - back * (buffers if by_buffers else 1))] if which == stage else []
        return needed(which, chunk, buffers) + extra

    return waits


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda stage, chunk, buffers: [], "before its data has come in"),
        (lambda stage, chunk, buffers: needed(stage, chunk, 3), "overwrites x and y"),
        (lambda stage, chunk, buffers: None, "a list of tasks"),
        (leave_out("copy in", 0), "overwrites x and y"),
        (leave_out("compute", 0), "before its data has come in"),
        (leave_out("compute", 1), "overwrites z"),
        (leave_out("copy out", 0), "before it is computed"),
        (
            lambda stage, chunk, buffers: [*needed(stage, chunk, buffers), ("compute", chunk + 1)],
            "queued only after it",
        ),
        (add("copy in", "copy out", 1, True), "are enough"),
        (add("compute", "copy out", 1, False), "are enough"),
        (add("copy in", "copy out", 1, False), "are enough"),
        (lambda stage, chunk, buffers: ("copy in", chunk), "a list of tasks such as ('copy in', 0) is expected"),
    ],
)
def test_each_wait_that_is_missing_or_costs_time_is_told(wrong: Any, told: str) -> None:
    said = pipelines.check_waits(wrong)
    assert said.startswith("Not yet: ") and told in said
