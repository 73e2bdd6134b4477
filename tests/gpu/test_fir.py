"""The FIR filter on a GPU: its binding for lengths on its list and off it."""

import cupy
import numpy as np
import pytest

import fourways_aot
from fourways import lesson

SIZES = (0, 1, 3, 4, 5, 33, 257, 1009, 1_000_003)


def random(size: int, seed: int) -> np.ndarray:
    return np.asarray(np.random.default_rng(seed).random(size, np.float32))


@pytest.mark.parametrize("length", [1, 8, 15, 16, 17, 32, 100])
@pytest.mark.parametrize("offset", [0, 1])
def test_the_binding_is_right_for_any_length_size_and_address(length: int, offset: int) -> None:
    reference = lesson.load(lesson.find("09"), ["pybind11"]).reference
    for size in SIZES:
        if size + length > 1:
            x, taps = random(size + length - 1, 5), random(length, 6)
            moved, around = cupy.zeros(x.size + offset, cupy.float32), cupy.full(size + 64, cupy.nan, cupy.float32)
            moved[offset:] = cupy.asarray(x)
            y = around[offset : offset + size]
            assert fourways_aot.fir(moved[offset:], cupy.asarray(taps), y) is None
            np.testing.assert_allclose(y.get(), reference(x, taps), rtol=1e-5)
            y.fill(cupy.nan)
            assert cupy.isnan(around).all(), "wrote outside of y"


def test_a_bad_argument_leaves_the_output_alone() -> None:
    x, taps, y = cupy.ones(18, cupy.float32), cupy.ones(3, cupy.float32), cupy.full(16, cupy.nan, cupy.float32)
    for arguments in ((x[:17], taps, y), (x, taps[:0], y), (x, taps, y.reshape(4, 4)), (y, taps[:1], y)):
        with pytest.raises(ValueError, match=r"^fir: "):
            fourways_aot.fir(*arguments)
    cupy.cuda.Device().synchronize()
    assert cupy.isnan(y).all()
