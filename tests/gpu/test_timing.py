"""On a GPU: the clocks are honest. The reference is a CUDA graph, in which the GPU goes from kernel to kernel alone."""

from pathlib import Path

import numpy as np
import pytest

from fourways import lesson, timeline, timing

pytestmark = pytest.mark.alone


def median(samples: list[float]) -> float:
    return timing.summary(samples)["median"]


@pytest.fixture(scope="module")
def doublify():
    import cupy

    ways = lesson.load(lesson.find("01"))
    x = cupy.random.default_rng(1).standard_normal(2**26, dtype=cupy.float32)
    y = cupy.empty_like(x)
    return lambda size: ways.functions["nvrtc"](x[:size], y[:size])


def test_an_empty_kernel_is_timed_as_in_a_graph(capsys: pytest.CaptureFixture[str]) -> None:
    import cupy

    empty = cupy.RawKernel('extern "C" __global__ void nothing() {}', "nothing")

    def call() -> None:
        empty((1,), (1,), ())

    alone, in_graph = median(timing.device_seconds(call)), median(timing.graph_seconds(call, 1000))
    with capsys.disabled():
        print(f"\nempty kernel: timed {alone * 1e6:.2f} µs, in a graph {in_graph * 1e6:.2f} µs; ", end="")
        print(f"subtracted for the events {timing.event_overhead() * 1e6:.2f} µs")
    assert abs(alone - in_graph) < 0.3e-6
    assert 0.5e-6 < timing.event_overhead() < 20e-6


@pytest.mark.parametrize("size", [2**10, 2**16, 2**20, 2**23, 2**26])
def test_the_same_error_at_every_size(doublify, size: int, capsys: pytest.CaptureFixture[str]) -> None:
    alone = median(timing.device_seconds(lambda: doublify(size)))
    in_graph = median(timing.graph_seconds(lambda: doublify(size), 20))
    with capsys.disabled():
        print(f"\ndoublify, {size:,}: timed {alone * 1e6:.2f} µs, in a graph {in_graph * 1e6:.2f} µs", end="")
    assert abs(alone - in_graph) < 0.5e-6 + 0.01 * in_graph


SPIN = """extern "C" __global__ void spin(long long cycles, long long *end) {
    for (const long long start = clock64(); clock64() - start < cycles;);
    *end = clock64(); }"""
SPINS = """
import sys
import cupy
import numpy
spin, end = cupy.RawKernel(sys.argv[1], "spin"), cupy.empty(1, numpy.int64)
for cycles in map(numpy.int64, sys.argv[2:]):
    for _ in range(25):
        spin((1,), (1,), (cycles, end))
cupy.cuda.Device().synchronize()
"""


def test_kernels_take_what_cupti_notes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From about 1 to 200 µs, in a process of its own, so that CUPTI disturbs nothing."""
    import cupy

    lengths = [1_000, 10_000, 100_000, 400_000]  # cycles
    program = tmp_path / "spins.py"
    program.write_text(SPINS)
    rows = timeline.of_program(program, SPIN, *map(str, lengths))
    noted = np.reshape([row["seconds"] for row in rows if row.get("name") == "spin"], (len(lengths), 25))
    spin, end = cupy.RawKernel(SPIN, "spin"), cupy.empty(1, np.int64)
    for cycles, seconds in zip(lengths, np.median(noted[:, 5:], axis=1), strict=True):
        ours = median(timing.device_seconds(lambda cycles=cycles: spin((1,), (1,), (np.int64(cycles), end))))  # type: ignore[misc]
        with capsys.disabled():
            print(f"\nspinning: timed {ours * 1e6:.3f} µs, by CUPTI {seconds * 1e6:.3f} µs", end="")
        assert abs(ours - seconds) < 0.2e-6 + 0.002 * seconds


def test_the_gpu_clock_is_read(doublify) -> None:
    (samples,) = timing.measure([lambda: doublify(2**20)])
    assert len(samples.mhz) == len(samples.seconds)
    assert all(100 < mhz < 5000 for mhz in samples.mhz)


def test_calls_take_turns_sample_by_sample() -> None:
    called: list[str] = []
    samples = timing.measure([lambda: called.append("a"), lambda: called.append("b")])
    sampled = "".join(called)[-2 * len(samples[0].seconds) :]
    assert sampled.startswith(("abba", "baab")) and sampled == (sampled[:4] * len(sampled))[: len(sampled)]


def test_a_cold_cache_has_nothing_to_write_back(capsys: pytest.CaptureFixture[str]) -> None:
    """Arrays larger than the cache: warm, it begins full of the last run's output; overwritten, it would be fuller."""
    import cupy

    saxpy = lesson.load(lesson.find("02"), ["nvrtc"]).functions["nvrtc"]
    x, y, z = cupy.zeros((3, 2**24), cupy.float32)

    def call() -> None:
        saxpy(np.float32(2), x, y, z)

    warm, cold = median(timing.device_seconds(call)), median(timing.device_seconds(call, cold=True))
    with capsys.disabled():
        print(f"\nsaxpy: warm {warm * 1e6:.2f} µs, cold {cold * 1e6:.2f} µs", end="")
    assert cold < 1.01 * warm


def test_launches_are_counted_twice_by_the_host_and_by_the_graph() -> None:
    ways = lesson.load(lesson.find("01"))
    rows = {row["way"]: row for row in timing.time_ways(ways, ("nvrtc", "pybind11", "pycuda"), 1000)}
    for way in ("nvrtc", "pybind11"):
        assert 0 < rows[way]["graph_seconds"]["median"] < rows[way]["launch_seconds"]["median"]
    elsewhere = "lesson 01 launches it on the default stream: no part of the capture"
    assert rows["pycuda"]["graph_seconds"] is None, elsewhere


def test_sizes_have_a_roof_each() -> None:
    ways = lesson.load(lesson.find("01"))
    ways.functions = {"nvrtc": ways.functions["nvrtc"]}
    rows = timing.time_sizes(ways, [2**20, 2**26]).rows
    assert [(row["way"], row["size"]) for row in rows] == [
        ("nvrtc", 2**20),
        ("device copy", 2**20),
        ("nvrtc", 2**26),
        ("device copy", 2**26),
    ]
    assert rows[2]["bytes_per_second"] < 1.02 * rows[3]["bytes_per_second"], "nothing passes the roof"


def test_a_copy_has_the_share_of_a_copy_and_two_have_half_of_it() -> None:
    import cupy

    source, target = cupy.zeros((2, 2**26), cupy.float32)

    def copy() -> None:
        target.data.copy_from_device_async(source.data, source.nbytes)

    rows = timing.time_calls({"one": copy, "two": lambda: (copy(), copy())}, 2 * source.nbytes).rows
    assert rows[0]["share"] == pytest.approx(1, abs=0.05)
    assert rows[1]["share"] == pytest.approx(0.5, abs=0.05)


def test_memory_is_not_overfilled() -> None:
    import cupy

    size = timing.gpu_size(8, most=2**40)
    assert size * 8 <= 0.25 * cupy.cuda.Device().mem_info[1] < 2 * size * 8
    assert timing.gpu_size(8, most=2**20) == 2**20
    assert np.log2(size) % 1 == 0


def test_a_size_that_does_not_fit_is_a_note() -> None:
    ways = lesson.load(lesson.find("01"), ["nvrtc"])
    table = timing.time_sizes(ways, [1000, 2**40, 2**41])
    assert {row["size"] for row in table.rows} == {1000}
    assert table.note.startswith("1,099,511,627,776 elements and more were not timed: ")


def test_first_results_on_a_gpu() -> None:
    rows = timing.first_results("01", ["nvrtc"]).rows
    cold, warm = rows
    assert cold["stages"]["build"] > warm["stages"]["build"] > 0, "CuPy's cache is found again"
    for row in rows:
        assert all(row["stages"][stage] > 0 for stage in ("start", "import", "context", "inputs", "load", "launch"))
