"""Lesson 03's kernels with CUB by CuPy on a GPU: every arrangement of loads, and one scan by all blocks."""

from collections.abc import Callable

import cupy
import numpy as np
import pytest

from fourways import kernels, toolchain

SHAPES = [(1, 1), (3, 0), (0, 3), (7, 31), (2, 2048), (5, 2049), (3, 10_007), (70_000, 3)]
ARRANGEMENTS = ["DIRECT", "STRIPED", "VECTORIZE", "TRANSPOSE", "WARP_TRANSPOSE"]


def odd_numbers(shape: tuple[int, ...]) -> np.ndarray:
    """Odd whole numbers: sums that float32 holds exactly, in any order; a missing one shows."""
    return (2 * np.random.default_rng(3).integers(-8, 8, shape) + 1).astype(np.float32)


def compiled(name: str, arrangement: str) -> Callable[[cupy.ndarray, cupy.ndarray], None]:
    """A kernel of rows by NVRTC, for blocks of 128."""
    options = [f"-DLOAD=cub::BLOCK_LOAD_{arrangement}", f"-DSTORE=cub::BLOCK_STORE_{arrangement}"]
    options += [f"-I{folder}" for folder in toolchain.include_dirs()]
    kernel = cupy.RawKernel(kernels.source(name), name, options=("-std=c++17", *options))

    def launch(x: cupy.ndarray, y: cupy.ndarray) -> None:
        kernel((max(1, min(x.shape[0], 1000)),), (128,), (x, y, *map(np.int64, x.shape)))

    return launch


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_normalise_is_right_and_a_scan_needs_neighbours_in_one_thread(arrangement: str) -> None:
    normalise, scan = compiled("normalise", arrangement), compiled("scan", arrangement)
    for shape in SHAPES:
        x, around = odd_numbers(shape), cupy.full(np.prod(shape) + 64, cupy.nan, cupy.float32)
        y = around[: x.size].reshape(shape)
        normalise(cupy.asarray(x), y)
        exact = x / np.linalg.norm(x.astype(np.float64), axis=1, keepdims=True)
        np.testing.assert_allclose(y.get(), exact, rtol=1e-6)
        scan(cupy.asarray(x), y)
        few = x.size == 0 or shape[1] <= 128  # then no thread of a block has more than one element
        assert np.array_equal(y.get(), np.cumsum(x, axis=1)) == (arrangement != "STRIPED" or few), shape
        assert cupy.isnan(around[x.size :]).all()
