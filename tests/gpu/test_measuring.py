"""On a GPU: the rows that `measuring` makes, and what it refuses."""

from collections.abc import Callable
from typing import Any

import cupy
import numpy as np
import pytest

from fourways import checking, lesson, measuring, ways


def ways_of(**functions: Callable[..., Any]) -> ways.Ways:
    return ways.Ways("doublify", lambda size: (np.ones(size, np.float32),), lambda x: 2 * x, functions)


def double(x: Any, y: Any) -> None:
    cupy.multiply(x, np.float32(2), out=y)


@pytest.mark.quiet
def test_a_row_has_warm_and_cold_times_and_the_costs_of_a_launch() -> None:
    (row,) = measuring.time_ways(ways_of(nvrtc=double), ["nvrtc"], 2**20)
    assert row["bytes"] == 2**23 and row["clock"] == "device"
    assert 0 < row["graph_seconds"]["median"] < row["seconds"]["median"] < row["cold_seconds"]["median"]
    assert row["launch_seconds"]["samples"] == 20


def test_a_way_that_goes_wrong_while_it_is_timed_has_no_time() -> None:
    calls: list[int] = []

    def tired(x: Any, y: Any) -> None:
        calls.append(x.size)
        if calls.count(1009) < 20:
            double(x, y)

    with pytest.raises(checking.CheckFailure, match="size 1009: after the last timed call element 0 is nan"):
        measuring.time_ways(ways_of(nvrtc=tired), ["nvrtc"], 1009)


MIXED = np.dtype([("a", "f4"), ("b", "f8"), ("c", "i2")])


@pytest.mark.parametrize("dtype", ["f4", "u1", "c16", MIXED], ids=str)
def test_an_output_in_place_gets_its_old_contents(dtype: Any) -> None:
    x = np.arange(1009).astype("i2").astype(dtype)
    arguments, restore = measuring.prepared("gpu", ((x,), {"x": x}, 0.0, {0: 0}))
    arguments[1].set(np.ones(1009, dtype))
    restore()
    assert arguments[1].get().tobytes() == x.tobytes()


def test_a_call_that_waits_has_a_time() -> None:
    """It includes the host's part; Numba's launches on CuPy's arrays wait."""
    x = cupy.ones(2**20, cupy.float32)

    def waits() -> None:
        cupy.cuda.Device().synchronize()
        cupy.add(x, x, out=x)

    alone, waiting = measuring.measure([lambda: cupy.add(x, x, out=x), waits])
    assert len(alone) == len(waiting) >= 20 and 0 < np.median(alone) < np.median(waiting)


@pytest.mark.parametrize("clock", ["device", "host", "launch"])
def test_calls_are_timed_by_each_clock(clock: str) -> None:
    x = cupy.ones(2**20, cupy.float32)
    call = measuring.until_done(lambda: x.fill(1)) if clock == "host" else lambda: x.fill(1)
    row, copy = measuring.time_calls({"fill": call}, moved=x.nbytes, clock=clock).rows
    assert row["seconds"]["median"] > 0 and copy["way"] == "device copy" and copy["bytes"] == x.nbytes


def test_what_cannot_be_captured_has_no_time_in_a_graph() -> None:
    rows = measuring.time_ways(lesson.load(lesson.find("01")), ("nvrtc", "pybind11", "pycuda"), 1000)
    in_graph = {row["way"]: row["graph_seconds"] is not None for row in rows}
    elsewhere = "lesson 01 launches it on the default stream: no part of the capture"
    assert in_graph == {"nvrtc": True, "pybind11": True, "pycuda": False}, elsewhere


def test_sizes_have_a_roof_each() -> None:
    ways = lesson.load(lesson.find("01"), ["nvrtc"])
    *_, table = measuring.time_sizes(ways, [2**10, 2**16])
    rows = table.rows
    assert [(row["way"], row["size"]) for row in rows] == [
        ("nvrtc", 2**10),
        ("device copy", 2**10),
        ("nvrtc", 2**16),
        ("device copy", 2**16),
    ]


def test_memory_is_not_overfilled() -> None:
    size = measuring.gpu_size(8, most=2**40)
    assert size * 8 <= 0.25 * cupy.cuda.Device().mem_info[1] < 2 * size * 8
    assert measuring.gpu_size(8, most=2**20) == 2**20
    assert np.log2(size) % 1 == 0


def test_a_size_that_does_not_fit_is_a_note() -> None:
    ways = lesson.load(lesson.find("01"), ["nvrtc"])
    *_, table = measuring.time_sizes(ways, [1000, 2**40, 2**41])
    assert {row["size"] for row in table.rows} == {1000}
    assert table.note.startswith("1,099,511,627,776 elements and more were not timed: ")
