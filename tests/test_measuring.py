"""Ways timed side by side, with functions that run on the CPU. GPU rows are tested in tests/gpu/test_measuring.py."""

from collections.abc import Callable

import numpy as np
import pytest

from fourways import checking, measuring, tables, toolchain, ways
from fourways.ways import HOST_SIZE


def double(x: np.ndarray, y: np.ndarray) -> None:
    np.multiply(x, 2, out=y)


def ways_of(function: Callable[..., None] = double, make_inputs: Callable[[int], tuple] | None = None) -> ways.Ways:
    ones = make_inputs or (lambda size: (np.ones(size, np.float32),))
    return ways.Ways("doublify", ones, lambda x: 2 * x, {"host": function}, {"nvrtc": "no GPU"})


@pytest.mark.parametrize("sizes, size", [([1000], 1000), ([], HOST_SIZE)])
def test_a_row_holds_bytes_and_rate(sizes: list[int], size: int) -> None:
    """The host way has a size of its own by default."""
    (table,) = measuring.time_sizes(ways_of(), sizes)
    (row,) = table.rows
    assert (row["way"], row["size"], row["clock"], row["bytes"]) == ("host", size, "host", 8 * size)
    assert row["bytes_per_second"] == pytest.approx(row["bytes"] / row["seconds"]["median"])
    assert row["seconds"]["p10"] <= row["seconds"]["median"] <= row["seconds"]["p90"]
    assert table.note == "Not timed: nvrtc: no GPU"


def test_scalars_are_no_traffic() -> None:
    def saxpy(a: np.float32, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> None:
        np.add(a * x, y, out=z)

    ways = ways_of(saxpy, lambda size: (np.float32(2), *np.ones((2, size), np.float32)))
    ways.reference = lambda a, x, y: a * x + y
    assert measuring.time_ways(ways, ["host"], 10)[0]["bytes"] == 3 * 40


def test_a_way_that_goes_wrong_while_it_is_timed_has_no_time() -> None:
    calls = []

    def tired(x: np.ndarray, y: np.ndarray) -> None:
        calls.append(len(calls))
        if len(calls) < 4:
            double(x, y)

    said = "doublify_host, size 10: after the last timed call element 0 is nan .*; a wrong answer is not timed"
    with pytest.raises(checking.CheckFailure, match=said):
        measuring.time_ways(ways_of(tired), ["host"], 10)


def test_an_output_in_place_begins_each_sample_as_its_input() -> None:
    """Doubled again and again it would not be twice the input after the last sample."""

    def double_in_place(x: np.ndarray, y: np.ndarray) -> None:
        y *= 2

    ways = ways_of(double_in_place)
    ways.in_place = {0: 0}
    assert measuring.time_ways(ways, ["host"], 10)[0]["seconds"]["samples"] > 1


def test_every_way_at_every_size_and_the_first_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    def inputs(size: int) -> tuple:
        if size > 100:
            raise MemoryError(f"no room for {size}")
        return (np.ones(size, np.float32),)

    monkeypatch.setattr(toolchain, "gpus", lambda: ())
    heard: list[str] = []
    grown = list(measuring.time_sizes(ways_of(make_inputs=inputs), [10, 100, 1000, 10_000], heard.append))
    assert [[row["size"] for row in table.rows] for table in grown] == [[10], [10, 100], [10, 100]]
    assert [table.note for table in grown[:2]] == ["Not timed: nvrtc: no GPU"] * 2
    table = grown[-1]
    assert table.note == "1,000 elements and more were not timed: no room for 1000"
    assert heard == ["10 elements", "100 elements", "1,000 elements"]
    headings = [heading for heading, _ in table.columns]
    assert "warm median" in headings and "cold L2" not in headings, "a column without content is left out"


def test_more_than_the_gpu_holds_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = toolchain.Gpu("A GPU", "9.0", "sm_90", memory_bytes=8000)
    monkeypatch.setattr(toolchain, "gpus", lambda: (gpu,))
    (table,) = measuring.time_sizes(ways_of(make_inputs=pytest.fail), [1001])
    assert not table.rows
    assert "two arrays of 1,001 floats take 8,008 bytes; A GPU has 8,000" in table.note


def row(way: str, size: int, p10: float, p90: float) -> tables.Row:
    return {"way": way, "size": size, "seconds": {"p10": p10, "median": p10, "p90": p90}}
