"""On a GPU: every lesson executed whole (its own check tries every way at every awkward size)."""

import numpy as np
import pytest

from fourways import lesson, toolchain

LESSONS = [found.slug for found in lesson.lessons_and_pages()]


@pytest.mark.parametrize("slug", LESSONS)
def test_lesson_runs_whole(slug: str) -> None:
    result = lesson.run_all([lesson.find(slug)])[0]
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


def test_a_wrong_dtype_is_silently_wrong_in_cupy_and_refused_by_the_binding() -> None:
    import cupy

    ways = lesson.load(lesson.find("01"))
    x, y = cupy.arange(1, 5, dtype=cupy.float64), cupy.zeros(4, cupy.float32)
    ways.functions["nvrtc"](x, y)
    assert not np.array_equal(y.get(), [2, 4, 6, 8])
    with pytest.raises(TypeError, match="x has dtype float64; wanted float32"):
        ways.functions["pybind11"](x, y)
