"""Copies and kernels at the same time: the bound that a pipeline's stages set, and the drawing of its lanes."""

import pytest

from fourways import tables
from fourways.experiments import pipelines


@pytest.fixture
def pipeline() -> list[tables.Row]:
    """Two chunks on two streams, 10 s after the timeline began; the second chunk comes in while the first computes."""
    return [
        {"kind": "API call", "name": "cudaMemcpyAsync", "clock": "host", "start_seconds": 0.0, "seconds": 99.0},
        pipelines.work("copy in", 7, 10.0, 2.0),
        pipelines.work("compute", 7, 12.0, 1.0),
        pipelines.work("copy in", 8, 12.0, 2.0),
        pipelines.work("copy out", 7, 13.0, 1.5),
        pipelines.work("compute", 8, 14.0, 1.0),
        pipelines.work("copy out", 8, 15.0, 1.0),
        pipelines.work("compute", 8, 16.0, 50.0) | {"kind": "copy", "name": "device to device"},
        pipelines.work("compute", 8, 16.0, 50.0) | {"kind": "memset", "name": "memset"},
    ]


def test_the_busiest_stage_is_the_bound(pipeline: list[tables.Row]) -> None:
    assert pipelines.overlap(pipeline) == {
        "stages": {"copy in": 4.0, "compute": 2.0, "copy out": 2.5},
        "seconds": 6.0,
        "bound_seconds": 4.0,
        "share": pytest.approx(2 / 3),
    }


def test_kernels_at_the_same_time_count_once() -> None:
    rows = [
        pipelines.work("compute", 7, 0.0, 2.0),
        pipelines.work("compute", 8, 1.0, 2.0) | {"kind": "graph", "name": "graph 1"},
    ]
    assert pipelines.overlap(rows)["stages"] == {"copy in": 0, "compute": 3.0, "copy out": 0}
    assert pipelines.overlap(rows)["share"] == 1


def test_without_work_there_is_no_overlap(pipeline: list[tables.Row]) -> None:
    with pytest.raises(ValueError, match="no copies and no kernels"):
        pipelines.overlap(pipeline[:1])
    with pytest.raises(ValueError, match="no copies and no kernels"):
        pipelines.figure({"nothing": []})


def test_the_figure_has_a_lane_for_each_stage_and_a_colour_for_each_stream(pipeline: list[tables.Row]) -> None:
    drawn = pipelines.figure({"two streams": pipeline, "the first": pipeline[:3]}, "saxpy")
    whole, first = drawn.axes
    assert [label.get_text() for label in whole.get_yticklabels()] == ["copy in", "compute", "copy out"]
    assert whole.get_title(loc="left") == "two streams: 6.00 s, of which the busiest stage works 67%"
    assert drawn.get_suptitle() == "saxpy"
    assert whole.get_xlim() == first.get_xlim(), "one scale"
    for lane in whole.collections:
        colours = {tuple(colour) for colour in lane.get_facecolor()}
        assert len(colours) == len(lane.get_paths()) == 2, "two bars, two streams"
    assert whole.collections[0].get_paths()[0].get_extents().x0 == 0, "time starts with the first work"
    assert first.collections[0].get_paths()[0].get_extents().width == pytest.approx(2000), "ms"


def test_the_table_says_how_near_the_bound_and_how_right() -> None:
    taken = {"median": 0.010, "p10": 0.009, "p90": 0.011, "samples": 9}
    same = {"seconds": taken, "bound_seconds": 0.009}
    rows = [{"what": "a", "wrong": 0} | same, {"what": "b", "wrong": 1234} | same]
    table = pipelines.table("overlap", rows)
    assert table.cells() == [
        ["a", "10.0 ms", "9.00 ms", "90%", "right"],
        ["b", "10.0 ms", "9.00 ms", "90%", "1,234 wrong"],
    ]
    assert (table.name, table.rows, table.note) == ("overlap", rows, "")


def test_the_table_says_when_all_was_queued_where_that_was_measured() -> None:
    taken = {"seconds": {"median": 0.010}, "bound_seconds": 0.009, "wrong": 0}
    rows = [{"what": "a"} | taken, {"what": "b", "queued_seconds": 0.002} | taken]
    table = pipelines.table("overlap", rows)
    assert [heading for heading, _ in table.columns][-2:] == ["queued after", "result"]
    assert [cells[-2] for cells in table.cells()] == ["", "2.00 ms"]


@pytest.mark.parametrize(("bound", "share", "noted"), [(0.01004, "100%", False), (0.0101, "101%", True)])
def test_a_share_above_100_percent_comes_with_its_reason(bound: float, share: str, noted: bool) -> None:
    row = {"what": "a", "seconds": {"median": 0.010}, "bound_seconds": bound, "wrong": 0}
    table = pipelines.table("overlap", [row])
    assert table.cells()[0][3] == share
    assert ("a measurement, too" in table.note) == noted
