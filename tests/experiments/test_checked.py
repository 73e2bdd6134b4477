"""`fourways.checked` without a GPU: what the kernel gets, and what is refused before the launch."""

from typing import Any

import cupy
import numpy as np
import pytest

import fourways

SCALE = 'extern "C" __global__ void scale(const float *x, float *y, float a, int n) {}'


class Noting(cupy.RawKernel):
    """CuPy's own class, but a call only notes what it got."""

    def __call__(self, grid: Any, block: Any, args: Any, **options: Any) -> None:
        self.noted = (grid, block, args, options)


@pytest.fixture(scope="module")
def kernel() -> Noting:
    return Noting(SCALE, "scale")


@pytest.fixture(scope="module")
def launch(kernel: Noting) -> Any:
    return fourways.checked(kernel)


def on_gpu(dtype: Any = "f4", strides: Any = None) -> cupy.ndarray:
    """A CuPy array of memory that is not there: nobody may look at its elements."""
    memory = cupy.cuda.UnownedMemory(4096, 4096, None, 0)
    return cupy.ndarray((6,), dtype, cupy.cuda.MemoryPointer(memory, 0), strides)


def test_numbers_become_what_cpp_would_make_of_them(kernel: Noting, launch: Any) -> None:
    x, y = on_gpu(), on_gpu()
    launch((1,), (2,), (x, y, 1 / 3, True), shared_mem=8)
    grid, block, (*arrays, a, n), options = kernel.noted
    assert (grid, block, options) == ((1,), (2,), {"shared_mem": 8})
    assert arrays[0] is x and arrays[1] is y
    assert (type(a), a, type(n), n) == (np.float32, np.float32(1 / 3), np.int32, 1)


@pytest.mark.parametrize(
    ("args", "error", "said"),
    [
        ((1, 2, 3), TypeError, "scale: 3 arguments came; 4 are wanted, scale\\(const float \\*x, float"),
        (5, TypeError, "scale: the number 5 came; a tuple of the arguments is wanted: "),
        ((on_gpu("f8"), on_gpu(), 2, 3), TypeError, "scale: argument 1, x: an array of float64 came; float32 is wan"),
        ((on_gpu(), on_gpu(strides=(8,)), 2, 3), ValueError, "scale: argument 2, y: an array with gaps or in another"),
        ((np.ones(6, "f4"), on_gpu(), 2, 3), TypeError, "x: a NumPy array of float32 came; a CuPy array of float32 is"),
        ((on_gpu(), on_gpu(), 2, 3.5), ValueError, "scale: argument 4, n: the number 3.5 came; a whole number, int32"),
        ((on_gpu(), on_gpu(), 1e300, 3), ValueError, "scale: argument 3, a: the number 1e.300 came; one from"),
    ],
)
def test_what_does_not_fit_is_refused(launch: Any, args: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        launch((1,), (2,), args)


def test_another_kind_of_kernel_is_refused() -> None:
    with pytest.raises(TypeError, match=r"a cupy.RawKernel or a pycuda.driver.Function is wanted"):
        fourways.checked(len)
