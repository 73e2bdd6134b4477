"""On a GPU: a checked launch gives the kernel what C++ would, and refuses what does not fit."""

from collections.abc import Callable
from typing import Any

import cupy
import numpy as np
import pytest

import fourways
from fourways import toolchain, ways

WAYS = ["nvrtc", "nvcc", "pycuda"]
SCALE = """
extern "C" __global__ void scale(const float *x, float *y, float a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i];
}
"""


def made(way: str) -> Callable[..., Any]:
    """A checked kernel as a function of its arguments alone: 32 threads."""
    if reason := ways.missing(way):
        pytest.skip(reason)
    toolchain.activate()
    if way == "pycuda":
        import pycuda.autoprimaryctx  # noqa: F401
        from pycuda.compiler import SourceModule

        by_pycuda = fourways.checked(SourceModule(SCALE, no_extern_c=True).get_function("scale"), SCALE)
        return lambda *args: by_pycuda(*args, block=(32, 1, 1))
    launch = fourways.checked(cupy.RawModule(code=SCALE, backend=way).get_function("scale"))
    return lambda *args: launch((1,), (32,), args)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("a", [np.float32(1 / 3), 1 / 3, 2, True])
def test_scalars_are_converted(way: str, a: Any) -> None:
    launch, x, y = made(way), cupy.arange(33, dtype=cupy.float32), cupy.zeros(33, cupy.float32)
    launch(x, y, a, 32)
    np.testing.assert_array_equal(y.get(), np.append(np.float32(a) * np.arange(32, dtype=np.float32), np.float32(0)))


@pytest.mark.parametrize("way", WAYS)
def test_what_does_not_fit_is_refused_and_nothing_is_launched(way: str) -> None:
    launch, x, y = made(way), cupy.ones(64, cupy.float32), cupy.zeros(64, cupy.float32)
    for arguments, error, words in (
        ((x, y, 2), TypeError, "scale: 3 arguments came; 4 are wanted, scale"),
        ((x, y.astype("i4"), 2, 32), TypeError, "scale: argument 2, y: an array of int32 came; float32 is wanted"),
        ((x.get(), y, 2, 32), TypeError, "scale: argument 1, x: a NumPy array of float32 came"),
        ((x[::2], y, 2, 32), ValueError, "scale: argument 1, x: an array with gaps or in another order came"),
        ((x, y, 2, 2**31), ValueError, "scale: argument 4, n: the number 2147483648 came; one from"),
    ):
        with pytest.raises(error, match=words):
            launch(*arguments)
    cupy.cuda.Device().synchronize()
    assert not y.any()


def test_pycuda_takes_its_own_arrays() -> None:
    launch = made("pycuda")
    from pycuda import driver, gpuarray

    x, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    by_pycuda = gpuarray.zeros(32, np.float32)
    launch(driver.In(x), by_pycuda, 2, 32)
    launch(by_pycuda, driver.Out(out), 3, 32)
    np.testing.assert_array_equal(out, 6 * x)
    with pytest.raises(TypeError, match="argument 2, y: an array of float64 came"):
        launch(by_pycuda, driver.Out(np.zeros(32)), 2, 32)
