"""On a GPU: every lesson executed whole (its own check tries every way at every awkward size), the clocks honest."""

import numpy as np
import pytest

from fourways import lesson, timing, toolchain

JUDGES_TIMES = "06_timing"  # an exercise of it tells a fair timer from an unfair one: nothing may disturb it
LESSONS = [
    pytest.param(found.slug, marks=[pytest.mark.alone] if found.slug == JUDGES_TIMES else [])
    for found in [*lesson.all_lessons(), *lesson.pages()]
]


@pytest.mark.parametrize("slug", LESSONS)
def test_lesson_runs_whole(slug: str) -> None:
    result = lesson.run(lesson.find(slug))
    assert result.outcome == "passed", result.error
    optional = {toolchain.missing(need) for need in ("two-gpus", *toolchain.MORE)}
    assert set(result.skipped) <= optional, "no way, and nothing that is locked, may be skipped on a GPU machine"


def test_more_than_two_to_the_31_elements() -> None:
    import cupy

    free, _ = cupy.cuda.runtime.memGetInfo()
    size = 2**31 + 33
    if free < 3 * 4 * size:
        pytest.skip(f"needs {3 * 4 * size / 2**30:.0f} GiB of free GPU memory, there are {free / 2**30:.0f}")
    ways = lesson.load(lesson.find("01"))
    x = cupy.random.default_rng(1).standard_normal(size, dtype=cupy.float32)
    for way in ("nvrtc", "nvcc", "pycuda", "pybind11"):
        y = cupy.full_like(x, cupy.nan)
        ways.functions[way](x, y)
        assert bool((y == 2 * x).all()), way
        del y
    cupy.get_default_memory_pool().free_all_blocks()


@pytest.mark.alone
def test_device_clock_agrees_with_a_kernel_of_known_length() -> None:
    import cupy

    spin = cupy.RawKernel(
        'extern "C" __global__ void spin(long long ns) { long long t, s;'
        ' asm volatile("mov.u64 %0, %globaltimer;" : "=l"(s)); do {'
        ' asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); } while (t - s < ns); }',
        "spin",
    )
    for nanoseconds in (200_000, 1_000_000):
        median = timing.summary(timing.device_seconds(lambda ns=nanoseconds: spin((1,), (1,), (np.int64(ns),))))[
            "median"
        ]
        assert median == pytest.approx(nanoseconds * 1e-9, rel=0.1)


@pytest.mark.alone
def test_device_clock_leaves_out_the_launch() -> None:
    import cupy

    empty = cupy.RawKernel('extern "C" __global__ void empty() {}', "empty")
    device = timing.summary(timing.device_seconds(lambda: empty((1,), (1,), ())))["median"]
    assert device < 5e-6, "an empty kernel between two events, with the queue already filled"


@pytest.mark.alone
def test_cold_is_slower_than_warm_where_the_data_fits_the_cache() -> None:
    import cupy

    chase = cupy.RawKernel(
        'extern "C" __global__ void chase(const int *next, int *end) {'
        " int i = 0; for (int k = 0; k < 2000; ++k) i = next[i]; *end = i; }",
        "chase",
    )
    following = cupy.roll(cupy.arange(2000 * 64, dtype=cupy.int32), -64)  # each step in a cache line of its own
    end = cupy.zeros(1, cupy.int32)
    arguments = (1,), (1,), (following, end)
    warm = timing.summary(timing.device_seconds(lambda: chase(*arguments)))["median"]
    cold = timing.summary(timing.device_seconds(lambda: chase(*arguments), cold=True))["median"]
    assert cold > 1.3 * warm, "every step waits for the L2 cache when warm, for the memory when cold"


@pytest.mark.alone
@pytest.mark.parametrize("way", ["nvrtc", "nvcc", "pycuda"])
def test_first_result_finds_the_cache_the_second_time(way: str) -> None:
    cold, warm = timing.first_results("01", [way]).rows
    assert cold["stages"]["build"] > warm["stages"]["build"]
    assert warm["stages"]["context"] > 0.01
    assert cold["stages"]["load"] > 0 and cold["stages"]["launch"] > 0


def test_a_wrong_dtype_is_silently_wrong_in_cupy_and_refused_by_the_binding() -> None:
    import cupy

    ways = lesson.load(lesson.find("01"))
    x, y = cupy.arange(1, 5, dtype=cupy.float64), cupy.zeros(4, cupy.float32)
    ways.functions["nvrtc"](x, y)
    assert not np.array_equal(y.get(), [2, 4, 6, 8])
    with pytest.raises(TypeError, match="x has dtype float64; wanted float32"):
        ways.functions["pybind11"](x, y)
