"""One kernel in four ways: right? How long on the GPU? How long to launch? Leave out the ways that you lack."""

import time
from pathlib import Path

import cupy as cp
import mine  # which CMake built
import numpy as np

NAME, Z = "length", 0.5  # CHANGE: the kernel, and a number that it takes by value
SOURCE = Path(__file__).with_name("kernel.cuh").read_text()


def arguments(x, y, out):  # CHANGE: for CuPy and PyCUDA
    return x, y, np.float32(Z), out, np.int64(out.size)  # CHANGE


def by_pybind11(x, y, out):  # CHANGE
    mine.launch(x.data.ptr, y.data.ptr, Z, out.data.ptr, out.size)  # CHANGE


def by_cupy(backend):
    kernel = cp.RawModule(code=SOURCE, backend=backend).get_function(NAME)
    return lambda *arrays: kernel((arrays[-1].size // 256 + 1,), (256,), arguments(*arrays))


def by_pycuda():
    import pycuda.autoprimaryctx
    import pycuda.compiler

    kernel, block = pycuda.compiler.SourceModule(SOURCE, no_extern_c=True).get_function(NAME), (256, 1, 1)
    return lambda *arrays: kernel(*arguments(*arrays), grid=(arrays[-1].size // 256 + 1, 1), block=block)


def measure(call, arrays, launches=100):
    start, stop, clock = cp.cuda.Event(), cp.cuda.Event(), time.perf_counter()
    start.record()
    for _ in range(launches):
        call(*arrays)
    stop.record()
    queued = time.perf_counter() - clock
    stop.synchronize()
    return np.array([cp.cuda.get_elapsed_time(start, stop) * 1e3, queued * 1e6]) / launches  # microseconds


ways = {"nvrtc": by_cupy("nvrtc"), "nvcc": by_cupy("nvcc"), "pycuda": by_pycuda(), "pybind11": by_pybind11}
a, b = np.random.default_rng(1).standard_normal((2, 2**26), dtype=np.float32)  # CHANGE
inputs, right = [cp.asarray(a), cp.asarray(b)], np.sqrt(a * a + b * b + np.float32(Z * Z))  # CHANGE
for way, call in ways.items():
    for size in (0, 1, 257, right.size):
        out = cp.full(size, np.nan, right.dtype)  # so that an old answer is no answer
        call(*(each[:size] for each in inputs), out)
        assert np.allclose(out.get(), right[:size], rtol=1e-6, atol=0), (way, size)  # CHANGE: the tolerance
    print(f"{way:8} right, {(out.get() != right).mean():.0%} rounded differently")
arrays, few, took = [*inputs, out], [each[:16] for each in [*inputs, out]], {way: [] for way in ways}
for _ in range(9):
    for way, call in ways.items():  # in turns
        took[way].append((measure(call, arrays)[0], measure(call, few)[1]))
for way, each in took.items():
    print("{:8} kernel {:.0f} µs, launch {:.1f} µs".format(way, *np.median(each, axis=0)))
