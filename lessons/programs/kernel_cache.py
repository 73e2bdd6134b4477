"""Eight processes ask a shared cache for one kernel at once. One compiles, all launch."""

import fcntl
import hashlib
import multiprocessing
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import cupy as cp
import numpy as np
from cuda.bindings import nvrtc
from cuda.core import Program, ProgramOptions

TEXT = r"""
extern "C" __global__ void scale(const float *x, float *y, float factor, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}
"""  # CHANGE
NAME = "scale"  # CHANGE
OPTIONS = {}  # CHANGE: such as {"include_path": "include", "define_macro": "SIZE=4"}
HEADERS = ()  # CHANGE: the paths of all headers that the text includes


def cubin(folder, arch):
    """Return a file of machine code, and whether this process built it. All others wait."""
    digest = hashlib.sha256(repr((TEXT, OPTIONS, arch, nvrtc.nvrtcVersion())).encode())
    digest.update(b"".join(Path(header).read_bytes() for header in HEADERS))
    file = Path(folder, f"{digest.hexdigest()}.cubin")
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # waits while another process builds
        if built := not file.exists():
            program = Program(TEXT, "c++", ProgramOptions(arch=arch, **OPTIONS))
            file.with_suffix(".new").write_bytes(program.compile("cubin").code)
            file.with_suffix(".new").replace(file)  # never half a file
    return file, built


def begin(shared):
    global barrier
    barrier = shared


def work(folder):
    x = np.arange(1000, dtype=np.float32)  # CHANGE: the inputs
    x_gpu, y_gpu = cp.asarray(x), cp.empty(x.shape, cp.float32)
    barrier.wait()  # until all eight are here
    file, built = cubin(folder, f"sm_{cp.cuda.Device().compute_capability}")
    kernel = cp.RawModule(path=str(file)).get_function(NAME)
    grid = (max(1, -(-x.size // 256)),)  # a grid of no blocks is an error
    kernel(grid, (256,), (x_gpu, y_gpu, np.float32(3), np.int64(x.size)))  # CHANGE
    assert (y_gpu.get() == 3 * x).all()  # CHANGE: the answer; most need a tolerance
    return built


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    place = tempfile.TemporaryDirectory()  # CHANGE: a folder that stays
    with ProcessPoolExecutor(8, context, begin, (context.Barrier(8),)) as pool:
        built = list(pool.map(work, [place.name] * 8))
    assert sum(built) <= 1  # none, if the folder had it already
    print(f"{sum(built)} of {len(built)} processes compiled, and all launched the kernel")
