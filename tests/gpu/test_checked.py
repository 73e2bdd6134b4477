"""On a GPU: a checked launch gives the kernel what C would, and refuses what does not fit."""

from collections.abc import Callable
from typing import Any

import cupy
import numpy as np
import pytest
from protocols import Interface

import fourways
from fourways import building, toolchain, ways

WAYS = ["RawKernel", "nvrtc", "nvcc", "pycuda"]
MIXED = """
#include <cuda_fp16.h>
struct Range { float low; double high; };
extern "C" __global__ void mixed(signed char c, Range range, bool b, const float *x, __half h, float2 z, double *out,
                                 unsigned u, double2 w, long long n, double d)
{
    const double all[] = {(double)c, range.low, range.high, (double)b, x ? *x : -1, __half2float(h),
                          z.x, z.y, (double)u, w.x, w.y, (double)n, d};
    for (int i = 0; i < sizeof(all) / sizeof(double); ++i)
        out[i] = all[i];
}
"""
SCALE = """
extern "C" __global__ void scale(const float *x, float *y, float a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i];
}
"""
RANGE = np.dtype([("low", "f4"), ("high", "f8")], align=True)


def made(way: str, text: str, entry: str) -> Callable[..., Any]:
    """A checked kernel as a function of its arguments alone: 32 threads."""
    if reason := ways.missing("nvrtc" if way == "RawKernel" else way):
        pytest.skip(reason)
    toolchain.activate()
    if way == "pycuda":
        import pycuda.autoprimaryctx  # noqa: F401
        from pycuda.compiler import SourceModule

        by_pycuda = fourways.checked(SourceModule(text, no_extern_c=True).get_function(entry), text)
        return lambda *args: by_pycuda(*args, block=(32, 1, 1))
    kernel = (
        cupy.RawKernel(text, entry)
        if way == "RawKernel"
        else cupy.RawModule(code=text, backend=way).get_function(entry)
    )
    launch = fourways.checked(kernel)
    return lambda *args: launch((1,), (32,), args)


@pytest.mark.parametrize("way", WAYS)
def test_every_argument_arrives(way: str) -> None:
    launch = made(way, MIXED, "mixed")
    x, out = cupy.full(1, 7, cupy.float32), cupy.zeros(13)
    range_ = np.array((0.5, 2.5), RANGE)
    launch(-3, range_, 2, x, 0.25, 1 + 2j, out, 2**32 - 1, 3 - 4j, -(2**62), 0.1)
    assert out.get().tolist() == [-3, 0.5, 2.5, 1, 7, 0.25, 1, 2, 2**32 - 1, 3, -4, -(2.0**62), 0.1]
    launch(np.int64(5), range_[()], False, None, np.float64(2), 1, out, True, np.float32(3), 4.0, 5)
    assert out.get().tolist() == [5, 0.5, 2.5, 0, -1, 2, 1, 0, 1, 3, 0, 4, 5], "None is NULL"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("a", [np.float32(1 / 3), 1 / 3, np.float64(1 / 3), 2, np.int64(2), True])
def test_scalars_are_converted(way: str, a: Any) -> None:
    launch, x, y = made(way, SCALE, "scale"), cupy.arange(33, dtype=cupy.float32), cupy.zeros(33, cupy.float32)
    launch(x, y, a, 32)
    np.testing.assert_array_equal(y.get(), np.append(np.float32(a) * np.arange(32, dtype=np.float32), np.float32(0)))


@pytest.mark.parametrize("way", WAYS)
def test_what_does_not_fit_is_refused_and_nothing_is_launched(way: str) -> None:
    launch, x, y = made(way, SCALE, "scale"), cupy.ones(64, cupy.float32), cupy.zeros(64, cupy.float32)
    for arguments, error, words in (
        ((x, y, 2), TypeError, "scale: 3 arguments came; 4 are wanted, scale"),
        ((x.astype("f8"), y, 2, 32), TypeError, "scale: argument 1, x: an array of float64 came; float32 is wanted"),
        ((x, y.astype("i4"), 2, 32), TypeError, "scale: argument 2, y: an array of int32 came; float32 is wanted"),
        ((x.get(), y, 2, 32), TypeError, "scale: argument 1, x: a NumPy array of float32 came"),
        ((x[:1].get(), y, 2, 1), TypeError, "scale: argument 1, x: a NumPy array of float32 came"),
        ((x.data.ptr, y, 2, 32), TypeError, "scale: argument 1, x: the number .* came"),
        ((x[::2], y, 2, 32), ValueError, "scale: argument 1, x: an array with gaps or in another order came"),
        ((x, y.reshape(8, 8).T, 2, 32), ValueError, "scale: argument 2, y: an array with gaps or in another order"),
        (
            (x, y, x.sum(), 32),
            TypeError,
            "scale: argument 3, a: an array of float32 came; a number, float32, is wanted",
        ),
        ((x, y, 1e300, 32), ValueError, "scale: argument 3, a: the number 1e.300 came; one from"),
        ((x, y, 2, 32.5), ValueError, "scale: argument 4, n: the number 32.5 came; a whole number, int32, is wanted"),
        ((x, y, 2, 2**31), ValueError, "scale: argument 4, n: the number 2147483648 came; one from"),
    ):
        with pytest.raises(error, match=words):
            launch(*arguments)
    cupy.cuda.Device().synchronize()
    assert not y.any()
    launch(x, y, 2, 32)
    assert y.sum() == 64


def test_a_tuple_of_one_forgotten() -> None:
    text = 'extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }'
    twice, x = fourways.checked(cupy.RawKernel(text, "twice")), cupy.ones(4, cupy.float32)
    with pytest.raises(TypeError, match=r"twice: an array of float32 came; a tuple of the arguments is wanted: \(x,\)"):
        twice((1,), (4,), x)
    twice((1,), (4,), (x,), shared_mem=16, stream=cupy.cuda.Stream.null)
    assert (x == 2).all()


def test_an_instance_of_a_template(tmp_path: Any) -> None:
    text = "template <class T> __global__ void fill(T *y, T value) { y[threadIdx.x] = value; }"
    (tmp_path / "fill.cu").write_text(text)
    signature = building.signatures(tmp_path / "fill.cu", ["fill<short>"])["fill<short>"]
    kernel = cupy.RawModule(code=text, name_expressions=["fill<short>"]).get_function("fill<short>")
    y = cupy.zeros(3, cupy.int16)
    fourways.checked(kernel, signature)((1,), (3,), (y, 7))
    assert (y == 7).all()
    with pytest.raises(ValueError, match=r"which kernel of the text is it: fill\?"):
        fourways.checked(kernel)


def test_pycuda_takes_everybodys_arrays() -> None:
    launch = made("pycuda", SCALE, "scale")
    from pycuda import driver, gpuarray

    x = np.arange(32, dtype=np.float32)
    on_gpu, by_pycuda = cupy.asarray(x), gpuarray.to_gpu(x)
    allocation, managed = (
        driver.mem_alloc(x.nbytes),
        driver.managed_empty(32, np.float32, mem_flags=driver.mem_attach_flags.GLOBAL),
    )
    for source in (on_gpu, by_pycuda, Interface(on_gpu), driver.In(x)):
        for target in (cupy.zeros(32, np.float32), gpuarray.zeros(32, np.float32)):
            launch(source, target, 2, 32)
            np.testing.assert_array_equal(target.get(), 2 * x)
    out = np.zeros_like(x)
    launch(by_pycuda, allocation, 3, 32)
    launch(allocation, driver.Out(out), 1, 32)
    np.testing.assert_array_equal(out, 3 * x)
    launch(by_pycuda, managed, 4, 32)
    driver.Context.synchronize()
    np.testing.assert_array_equal(managed, 4 * x)
    for wrong, error, words in (
        (gpuarray.zeros(32, np.float64), TypeError, "y: an array of float64 came; float32 is wanted"),
        (gpuarray.zeros((4, 8), np.float32).T, ValueError, "y: an array with gaps or in another order came"),
        (ReadOnly(on_gpu), ValueError, "y: a read-only array came"),
        (driver.Out(np.zeros(32)), TypeError, "y: an array of float64 came"),
    ):
        with pytest.raises(error, match=words):
            launch(on_gpu, wrong, 2, 32)


def test_pycuda_takes_tensors_of_pytorch() -> None:
    if reason := toolchain.missing("torch"):
        pytest.skip(reason)
    import torch

    launch, x, y = made("pycuda", SCALE, "scale"), torch.ones(32, device="cuda"), torch.zeros(32, device="cuda")
    launch(x, y, 2, 32)
    assert (y == 2).all()
    for wrong, words in ((y.double(), "an array of float64 came"), (y.cpu(), "an array of torch.float32 came")):
        with pytest.raises(TypeError, match=f"scale: argument 2, y: {words}"):
            launch(x, wrong, 2, 32)
    with pytest.raises(TypeError, match="scale: argument 1, x: .*grad"):
        launch(x.requires_grad_(), y, 2, 32)


class ReadOnly(Interface):
    """A CuPy array that says of itself that it is read-only."""

    def __init__(self, array: cupy.ndarray) -> None:
        super().__init__(array)
        self.__cuda_array_interface__["data"] = (array.data.ptr, True)


@pytest.mark.parametrize("way", ["nvrtc", "pycuda"])
def test_an_array_of_another_gpu_is_refused(way: str) -> None:
    if reason := toolchain.missing("two-gpus"):
        pytest.skip(reason)
    launch, y = made(way, SCALE, "scale"), cupy.zeros(32, cupy.float32)
    with cupy.cuda.Device(1):
        x = cupy.ones(32, cupy.float32)
    for elsewhere in [x] + [Interface(x)] * (way == "pycuda"):
        with pytest.raises(ValueError, match="x: an array on GPU 1 came; one on the current GPU, 0, is wanted"):
            launch(elsewhere, y, 2, 32)
