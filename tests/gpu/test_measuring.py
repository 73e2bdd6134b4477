"""On a GPU: what the timer calls, restores and judges, and which rows it makes."""

import re
from collections.abc import Callable
from typing import Any

import cupy
import numpy as np
import pytest

from fourways import checking, lesson, measuring, ways
from fourways.experiments import tuning


def test_the_gpu_clock_is_read() -> None:
    kernel = cupy.RawKernel('extern "C" __global__ void nothing() {}', "nothing")
    (samples,) = measuring.measure([lambda: kernel((1,), (1,), ())])
    assert len(samples.mhz) == len(samples.seconds) and min(samples.mhz) > 0


def test_calls_take_turns_sample_by_sample() -> None:
    called: list[str] = []
    samples = measuring.measure([lambda: called.append("a"), lambda: called.append("b")])
    sampled = "".join(called)[-2 * len(samples[0].seconds) :]
    assert sampled.startswith(("abba", "baab")) and sampled == (sampled[:4] * len(sampled))[: len(sampled)]


@pytest.mark.parametrize("cold", [False, True])
def test_something_runs_before_each_call_and_after_the_last_of_each(cold: bool) -> None:
    log: list[str] = []
    calls = [lambda: log.append("a"), lambda: log.append("b")]
    measuring.measure(calls, cold, lambda: log.append("."), lambda number: log.append("AB"[number]))
    assert re.fullmatch(r"(\.a|\.b)*(\.aA\.bB|\.bB\.aA)", "".join(log))


def ways_of(**functions: Callable[..., Any]) -> ways.Ways:
    return ways.Ways("doublify", lambda size: (np.ones(size, np.float32),), lambda x: 2 * x, functions)


def on_a_stream_of_its_own() -> Callable[..., None]:
    """It waits in its first call of each size, so that the first check sees the answer."""
    stream, sizes = cupy.cuda.Stream(non_blocking=True), set()

    def run(x: Any, y: Any) -> None:
        with stream:
            cupy.multiply(x, np.float32(2), out=y)
        if x.size not in sizes:
            sizes.add(x.size)
            stream.synchronize()

    return run


def test_work_on_another_stream_is_not_timed() -> None:
    with pytest.raises(checking.CheckFailure, match="doublify_nvrtc, size 1009: it works on another stream than "):
        measuring.time_ways(ways_of(nvrtc=on_a_stream_of_its_own()), ["nvrtc"], 1009)
    (tuned,) = tuning.tune(ways_of(), [{}], on_a_stream_of_its_own, 1009)
    assert tuned["seconds"] is None and "works on another stream" in tuned["problem"]


def test_work_in_the_current_stream_is_found_there_whichever_that_is() -> None:
    """Also work of a call that waits for it, and work on the default stream, for which a plain stream waits."""
    x = np.ones(2**20, np.float32)
    for stream in (cupy.cuda.Stream.null, cupy.cuda.Stream(), cupy.cuda.Stream(non_blocking=True)):
        with stream:
            judged = measuring.Judged("gpu", (x,), 2 * x)
            given, output = judged.values
            assert judged.elsewhere(lambda x=given, y=output: cupy.multiply(x, np.float32(2), out=y)) is None
            waits = lambda x=given, y=output, s=stream: (cupy.multiply(x, 2, out=y), s.synchronize())  # noqa: E731
            assert judged.elsewhere(waits) is None
            assert judged.problem() is None


MIXED = np.dtype([("a", "f4"), ("b", "f8"), ("c", "i2")])


@pytest.mark.parametrize("dtype", ["f4", "f2", "i8", "u1", "c16", "?", MIXED], ids=str)
def test_outputs_are_restored_to_their_last_byte(dtype: Any) -> None:
    """Poison, and of an output in place the contents of its input; sizes that are no whole number of 16 bytes."""
    right, number = np.arange(1009).astype("i2").astype("f4"), np.float32(3)
    first = np.ones(1009, dtype)
    judged = measuring.Judged("gpu", (number, right), {"y": first, "z": right, "none": right[:0]}, in_place={1: 1})
    y, z, _ = outputs = judged.values[2:]
    fresh = [output.get() for output in outputs]
    y.set(first)
    z.fill(7)
    assert judged.problem().startswith("z: element 0 is 7")
    judged.restore()
    assert [output.get().tobytes() for output in outputs] == [array.tobytes() for array in fresh]
    np.testing.assert_array_equal(z.get(), right)
    assert judged.problem().startswith("y: ")
    y.set(first)
    assert judged.problem() is None


def test_what_cannot_be_captured_has_no_time_in_a_graph() -> None:
    rows = measuring.time_ways(lesson.load(lesson.find("01")), ("nvrtc", "pybind11", "pycuda"), 1000)
    in_graph = {row["way"]: row["graph_seconds"] is not None for row in rows}
    elsewhere = "lesson 01 launches it on the default stream: no part of the capture"
    assert in_graph == {"nvrtc": True, "pybind11": True, "pycuda": False}, elsewhere
    assert all(row["launch_seconds"]["samples"] == 20 for row in rows)


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


@pytest.mark.parametrize("way", ["nvrtc", "nvcc", "pycuda"])
def test_first_results_have_every_stage(way: str) -> None:
    for row in measuring.first_results("01", [way]).rows:
        assert all(row["stages"][stage] > 0 for stage in ("start", "import", "context", "inputs", "load", "launch"))
