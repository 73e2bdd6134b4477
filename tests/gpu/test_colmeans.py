"""Column means on a GPU: the binding for any shape, and each repair of lesson 07 for itself."""

import cupy
import numpy as np
import pytest

import fourways_aot
from fourways import kernels

SHAPES = [(0, 3, 5), (1, 1, 1), (2, 3, 5), (3, 70, 33), (1, 1, 1009), (2, 5, 0), (1, 4096, 2), (129, 257, 31)]


def matrices(shape: tuple[int, ...]) -> cupy.ndarray:
    """Whole numbers that float32 adds exactly."""
    return cupy.floor(4096 * cupy.random.default_rng(5).random(shape, dtype=cupy.float32))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_binding_is_right_for_any_shape(shape: tuple[int, int, int]) -> None:
    x = matrices(shape)
    expected = x.sum(axis=1, dtype=cupy.float64).astype(cupy.float32) / np.float32(shape[1])
    around = cupy.full(expected.size + 128, cupy.nan, cupy.float32)
    means = around[64 : 64 + expected.size].reshape(expected.shape)
    assert fourways_aot.colmeans(x, means) is None
    assert (means == expected).all()
    means.fill(cupy.nan)
    assert cupy.isnan(around).all(), "wrote outside of the means"


def test_matrices_without_rows_have_no_mean() -> None:
    means = cupy.zeros((2, 5), cupy.float32)
    fourways_aot.colmeans(cupy.empty((2, 0, 5), cupy.float32), means)
    assert cupy.isnan(means).all()


def test_a_bad_argument_leaves_the_output_alone() -> None:
    x, means = cupy.ones((2, 3, 5), cupy.float32), cupy.full((2, 5), cupy.nan, cupy.float32)
    for wrong, error in ((x.astype(cupy.float64), TypeError), (x[0], ValueError), (x[:, :, ::2], ValueError)):
        with pytest.raises(error, match=r"^colmeans: "):
            fourways_aot.colmeans(wrong, means)
    cupy.cuda.Device().synchronize()
    assert cupy.isnan(means).all()


def test_more_than_two_to_the_31_elements() -> None:
    shape = (2, 2**20 + 1, 1024)
    if cupy.cuda.runtime.memGetInfo()[0] < 3 * 4 * np.prod(shape):
        pytest.skip("needs 26 GB of free GPU memory")
    x = cupy.ones(shape, cupy.float32)
    x[1, -1, -1] += shape[1]
    means = cupy.full((2, 1024), cupy.nan, cupy.float32)
    fourways_aot.colmeans(x, means)
    assert (means[0] == 1).all() and (means[1, :-1] == 1).all() and means[1, -1] == 2
    del x
    cupy.get_default_memory_pool().free_all_blocks()


@pytest.mark.parametrize(
    "options",
    [("-DCOLUMNS=1", "-DROOM=12288"), ("-DCOLUMNS=32",), ("-DCOLUMNS=32", "-DROOM=12288", "-DAHEAD=16")],
    ids=["as found", "repaired", "exercise 3"],
)
def test_each_form_is_right(options: tuple[str, ...]) -> None:
    x = matrices((128, 2048, 512))
    kernel = cupy.RawModule(code=kernels.source("colmeans"), options=options).get_function("colmeans")
    means = cupy.full((x.shape[0], x.shape[2]), cupy.nan, cupy.float32)
    columns = int(options[0].partition("=")[2])
    kernel((x.shape[0] * -(-x.shape[2] // columns),), (128,), (x, means, *map(np.int64, x.shape)))
    cupy.testing.assert_array_equal(means, x.sum(axis=1) / np.float32(x.shape[1]))
