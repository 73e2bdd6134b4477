"""One kernel in four ways: right? How long on the GPU? How long to launch?

Leave out the ways that you lack.
"""

import time
from pathlib import Path

import cupy as cp
import mine  # which CMake built
import numpy as np

NAME, Z = "length", 0.5  # CHANGE: the kernel, and a number that it takes by value
x, y = np.random.default_rng(1).standard_normal((2, 2**26), dtype=np.float32)  # CHANGE
INPUTS = [cp.asarray(x), cp.asarray(y)]  # CHANGE
RIGHT = [np.sqrt(x * x + y * y + np.float32(Z * Z))]  # CHANGE: each output, by NumPy
SOURCE = Path(__file__).with_name("kernel.cuh").read_text()


def arguments(x, y, out):  # CHANGE: of CuPy and PyCUDA; inputs first, then outputs
    return x, y, np.float32(Z), out, np.int64(out.size)  # CHANGE


def by_cupy(backend):
    kernel = cp.RawModule(code=SOURCE, backend=backend).get_function(NAME)
    # CHANGE: the grid
    return lambda *arrays: kernel((arrays[-1].size // 256 + 1,), (256,), arguments(*arrays))


def by_pycuda():
    import pycuda.autoprimaryctx
    import pycuda.compiler

    kernel, block = (
        pycuda.compiler.SourceModule(SOURCE, no_extern_c=True).get_function(NAME),
        (256, 1, 1),
    )
    # CHANGE
    return lambda *arrays: kernel(
        *arguments(*arrays), grid=(arrays[-1].size // 256 + 1, 1), block=block
    )


def measure(call, arrays, launches=100):
    start, stop, clock = cp.cuda.Event(), cp.cuda.Event(), time.perf_counter()
    start.record()
    for _ in range(launches):
        call(*arrays)
    stop.record()
    queued = time.perf_counter() - clock
    stop.synchronize()
    # microseconds
    return np.array([cp.cuda.get_elapsed_time(start, stop) * 1e3, queued * 1e6]) / launches


ways = {"nvrtc": by_cupy("nvrtc"), "nvcc": by_cupy("nvcc"), "pycuda": by_pycuda()}
# CHANGE
ways["pybind11"] = lambda x, y, out: mine.launch(
    x.data.ptr, y.data.ptr, Z, out.data.ptr, out.size
)
for way, call in ways.items():
    for size in (0, 1, 257, len(RIGHT[0])):
        # CHANGE for integers: no NaN
        outputs = [cp.full(each[:size].shape, np.nan, each.dtype) for each in RIGHT]
        call(*(each[:size] for each in INPUTS), *outputs)
        for out, right in zip(outputs, RIGHT, strict=True):
            # CHANGE: the tolerance
            assert np.allclose(out.get(), right[:size], rtol=1e-6, atol=0), (way, size)
    rounded = [
        f"{(out.get() != right).mean():.0%}" for out, right in zip(outputs, RIGHT, strict=True)
    ]
    print(f"{way:8} right, rounded differently:", *rounded)
arrays, few, took = (
    [*INPUTS, *outputs],
    [each[:16] for each in [*INPUTS, *outputs]],
    {way: [] for way in ways},
)
for _ in range(9):
    for way, call in ways.items():  # in turns
        took[way].append((measure(call, arrays)[0], measure(call, few)[1]))
for way, each in took.items():
    print("{:8} kernel {:.0f} µs, launch {:.1f} µs".format(way, *np.median(each, axis=0)))
