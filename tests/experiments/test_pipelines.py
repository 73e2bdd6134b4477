"""Lesson 11's model of streams, and the drawing of its timelines."""

import pytest

from fourways import tables
from fourways.experiments import pipelines


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
