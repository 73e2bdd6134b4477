"""The time that each rank waits for the kernel before the first exchange, by each way."""

import time
from collections.abc import Callable
from typing import Any

from fourways.experiments.cluster.ranks import Meeting
from fourways.experiments.cluster.workers import cpu_seconds
from fourways.ways import missing


def measured_builds(rank: int, source: str, cubin: str, meeting: Meeting) -> dict[str, dict[str, float]]:
    """Measure, by way, the host and CPU seconds until this rank has the stencil's kernel; all ranks begin together.

    `source` is its text, `cubin` the file of its machine code.
    """
    import cupy as cp

    def by(**how: str) -> Callable[[], Any]:
        return lambda: cp.RawModule(**how).get_function("stencil")

    ways = {
        "nvrtc": by(code=source, backend="nvrtc"),
        "nvcc": by(code=source, backend="nvcc"),
        "cubin, sent": by(path=cubin),
        "pybind11": lambda: __import__("fourways_aot"),
    }
    if not missing("pycuda"):
        ways["pycuda"] = by_pycuda(rank, source)
    cp.cuda.nvrtc.getVersion()  # loads the library
    rows = {}
    for way, build in ways.items():
        meeting.barrier.wait()
        start, before = time.perf_counter(), cpu_seconds()
        build()
        rows[way] = {"seconds": time.perf_counter() - start, "cpu_seconds": cpu_seconds() - before}
    return rows


def by_pycuda(rank: int, source: str) -> Callable[[], Any]:
    """PyCUDA's build of the kernel, on CuPy's context of GPU number `rank` and without a cache."""
    import pycuda.driver as cuda
    from pycuda.compiler import SourceModule

    cuda.init()
    context = cuda.Device(rank).retain_primary_context()

    def build() -> None:
        context.push()
        try:
            SourceModule(source, no_extern_c=True, cache_dir=False).get_function("stencil")
        finally:
            context.pop()

    return build
