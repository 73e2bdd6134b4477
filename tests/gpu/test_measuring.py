"""On a GPU: the rows that `measuring` makes, and what it refuses."""

from collections.abc import Callable
from typing import Any

import cupy
import numpy as np
import pytest

from fourways import lesson, measuring, ways


def ways_of(**functions: Callable[..., Any]) -> ways.Ways:
    return ways.Ways("doublify", lambda size: (np.ones(size, np.float32),), lambda x: 2 * x, functions)


def double(x: Any, y: Any) -> None:
    cupy.multiply(x, np.float32(2), out=y)


@pytest.mark.quiet
def test_a_row_has_warm_and_cold_times_and_the_costs_of_a_launch() -> None:
    row, copy = measuring.time_ways(ways_of(nvrtc=double), ["nvrtc"], 2**20)
    assert row["bytes"] == copy["bytes"] == 2**23 and row["clock"] == copy["clock"] == "device"
    assert 0 < row["graph_seconds"]["median"] < row["seconds"]["median"] < row["cold_seconds"]["median"]
    assert row["launch_seconds"]["samples"] == 20 and "launch_seconds" not in copy


MIXED = np.dtype([("a", "f4"), ("b", "f8"), ("c", "i2")])


@pytest.mark.parametrize("dtype", ["f4", "u1", "c16", MIXED], ids=str)
def test_an_output_in_place_gets_its_old_contents(dtype: Any) -> None:
    x = np.arange(1009).astype("i2").astype(dtype)
    arguments, restore, moved = measuring.prepared("gpu", ((x,), {"x": x}, 0.0, {0: 0}))
    assert moved == 2 * x.nbytes
    arguments[1].set(np.ones(1009, dtype))
    restore()
    assert arguments[1].get().tobytes() == x.tobytes()


def test_what_cannot_be_captured_has_no_time_in_a_graph() -> None:
    rows = measuring.time_ways(lesson.load(lesson.find("01")), ("nvrtc", "pybind11", "pycuda"), 1000)
    in_graph = {row["way"]: row["graph_seconds"] is not None for row in rows if row["way"] != measuring.COPY}
    elsewhere = "lesson 01 launches it on the default stream: no part of the capture"
    assert in_graph == {"nvrtc": True, "pybind11": True, "pycuda": False}, elsewhere


def test_a_size_that_does_not_fit_is_a_note() -> None:
    ways = lesson.load(lesson.find("01"), ["nvrtc"])
    *_, table = measuring.time_sizes(ways, [1000, 2**40, 2**41])
    assert {row["size"] for row in table.rows} == {1000}
    assert table.note.startswith("1,099,511,627,776 elements and more were not timed: ")
