"""One kernel in four ways: right? How long on the GPU? How long to launch?"""

import timeit
from functools import partial
from pathlib import Path

import cupy as cp
import lengths  # which CMake built
import numpy as np

SOURCE = Path(__file__).with_name("length.cuh").read_text()


def blocks(x):
    return (x.size + 255) // 256


def by_cupy(backend):
    kernel = cp.RawModule(code=SOURCE, backend=backend).get_function("length")
    return lambda x, y, out: kernel((blocks(x),), (256,), (x, y, out, np.int64(x.size)))


def by_pycuda():
    import pycuda.autoprimaryctx  # shares CuPy's context
    import pycuda.compiler

    kernel = pycuda.compiler.SourceModule(SOURCE, no_extern_c=True).get_function("length")
    block = (256, 1, 1)
    return lambda x, y, out: kernel(x, y, out, np.int64(x.size), grid=(blocks(x), 1), block=block)


def by_pybind11(x, y, out):
    lengths.length(x.data.ptr, y.data.ptr, out.data.ptr, x.size)


def on_gpu(call, launches=20):
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    for _ in range(launches):
        call()
    stop.record()
    stop.synchronize()
    return cp.cuda.get_elapsed_time(start, stop) * 1e3 / launches  # microseconds


ways = {"nvrtc": by_cupy("nvrtc"), "nvcc": by_cupy("nvcc"), "pybind11": by_pybind11}
try:
    ways["pycuda"] = by_pycuda()
except ImportError as error:
    print("pycuda   skipped:", error)
a, b = np.random.default_rng(1).standard_normal((2, 2**26), dtype=np.float32)
x, y, right = cp.asarray(a), cp.asarray(b), np.sqrt(a * a + b * b)
for way, length in ways.items():
    out = cp.full(x.shape, np.nan, np.float32)  # so that an old answer is no answer
    length(x, y, out)
    assert np.allclose(out.get(), right, rtol=1e-6, atol=0), way
    print(f"{way:8} right, {(out.get() != right).mean():.0%} rounded differently", end=", ")
    kernel = np.median([on_gpu(partial(length, x, y, out)) for _ in range(9)])
    launch = timeit.repeat(partial(length, x[:16], y[:16], out[:16]), number=100, repeat=9)
    print(f"kernel {kernel:.0f} µs, launch {np.median(launch) * 1e4:.1f} µs")
