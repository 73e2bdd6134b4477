"""One kernel in three ways: right, how long on the GPU, how long to launch? Needs CuPy, PyCUDA, nvcc."""

import time
from functools import partial

import cupy as cp
import numpy as np
import pycuda.autoprimaryctx  # shares CuPy's context
from pycuda.compiler import SourceModule

SOURCE = r"""
extern "C" __global__ void clip(const float *x, float *y, float low, float high, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fminf(fmaxf(x[i], low), high);
}
"""
by_nvrtc = cp.RawModule(code=SOURCE, backend="nvrtc").get_function("clip")
by_nvcc = cp.RawModule(code=SOURCE, backend="nvcc").get_function("clip")
by_pycuda = SourceModule(SOURCE, no_extern_c=True).get_function("clip")


def arguments(x, y):
    return x, y, np.float32(-1), np.float32(1), np.int64(x.size)


def cupy(kernel, x, y):
    kernel(((x.size + 255) // 256,), (256,), arguments(x, y))


def pycuda(x, y):
    by_pycuda(*arguments(x, y), grid=((x.size + 255) // 256, 1), block=(256, 1, 1))


def on_gpu(call, launches=20):
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    for _ in range(launches):
        call()
    stop.record()
    stop.synchronize()
    return cp.cuda.get_elapsed_time(start, stop) * 1e3 / launches  # microseconds


def to_launch(call, launches=100):
    start = time.perf_counter()
    for _ in range(launches):
        call()
    return (time.perf_counter() - start) * 1e6 / launches


x = cp.asarray(np.random.default_rng(1).standard_normal(2**26, dtype=np.float32))
for way, call in {"nvrtc": partial(cupy, by_nvrtc), "nvcc": partial(cupy, by_nvcc), "pycuda": pycuda}.items():
    y = cp.full(x.shape, np.nan, np.float32)  # so that an old answer is no answer
    call(x, y)
    assert (y.get() == x.get().clip(-1, 1)).all()
    kernel = np.median([on_gpu(partial(call, x, y)) for _ in range(9)])
    launch = np.median([to_launch(partial(call, x[:16], y[:16])) for _ in range(9)])
    print(f"{way:6} right, kernel {kernel:.0f} µs, launch {launch:.1f} µs")
