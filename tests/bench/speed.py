"""Kernels beside the device-to-device copy of as many bytes, and beside other forms of themselves."""

import functools
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cupy
import numpy as np
from cuda.core import Linker, LinkerOptions, Program, ProgramOptions
from ratios import device, ratio, table

import fourways_aot
from fourways import kernels, lesson, linking, timing, toolchain
from fourways.experiments import cluster
from fourways.tables import Row, Table

PLUGIN = 'extern "C" __device__ float user_transform(float x) { return 0.99f * x + 0.5f; }\n'


def tables() -> Iterator[Table]:
    """All tables of this group. The aims are for a GPU of the H200's kind."""
    for rows in (saxpy, transpose, stencil, fir, colmeans, plugin, linked):
        yield table(rows(), f"Device clock; {rows.__name__}.")
        cupy.get_default_memory_pool().free_all_blocks()
    if reason := toolchain.missing("two-gpus") or toolchain.missing("nccl"):
        print(f"two GPUs: skipped: {reason}")
    else:
        yield cluster.scale_plates({16384: 60}, [1, 2])["scaling"]
        print("aim: a speedup of more than 1.9 by a graph with priorities")


def copy_seconds(nbytes: int) -> float:
    """The copy that reads and writes `nbytes` together."""
    return timing.copy_row(nbytes)["seconds"]["median"]


def saxpy() -> list[Row]:
    """With float4, beside the copy and CuPy's elementwise kernel."""
    size = timing.gpu_size(bytes_per_element=12, most=2**28)
    a, (x, y, z) = np.float32(2.5), cupy.ones((3, size), cupy.float32)
    elementwise = cupy.ElementwiseKernel("float32 a, float32 x, float32 y", "float32 z", "z = a * x + y", "saxpy_e")
    copy, others = copy_seconds(3 * x.nbytes), device(lambda: elementwise(a, x, y, z))
    rows = []
    for way, run in lesson.load(lesson.find("02"), ["nvrtc", "pybind11"]).functions.items():
        taken = device(functools.partial(run, a, x, y, z))
        rows.append(ratio(f"saxpy, {way}", taken, "the copy", copy, "1.03 at most"))
        rows.append(ratio(f"saxpy, {way}", taken, "ElementwiseKernel", others, "0.67 at most"))
    return rows


def transpose() -> list[Row]:
    """Beside the copy, and beside CuPy's `copyto`."""
    side = int(timing.gpu_size(bytes_per_element=8, most=2**28) ** 0.5)
    a = cupy.ones((side, side), cupy.float32)
    b = cupy.empty_like(a)
    ours = device(lambda: fourways_aot.transpose(a, b))
    return [
        ratio("transpose", ours, "the copy", copy_seconds(2 * a.nbytes), "1.18 at most"),
        ratio("transpose", ours, "cupy.copyto", device(lambda: cupy.copyto(b, a.T)), "0.33 at most"),
    ]


def stencil() -> list[Row]:
    """One step beside the copy; a thousand steps, waited for by the host, beside a thousand times one."""
    side = int(timing.gpu_size(bytes_per_element=8, most=2**28) ** 0.5)
    u = cupy.random.default_rng(5).random((side, side), dtype=cupy.float32)
    v = u.copy()
    step = device(lambda: fourways_aot.stencil(u, v))
    rows = [ratio("stencil", step, "the copy", copy_seconds(2 * u.nbytes), "1.18 at most")]
    graph = timing.captured(lambda: fourways_aot.stencil_steps(u, v, 1000))
    for name, call in (("in C++", lambda: fourways_aot.stencil_steps(u, v, 1000)), ("as a graph", graph.launch)):
        cupy.cuda.Device().synchronize()
        begun = time.perf_counter()
        call()
        cupy.cuda.Device().synchronize()
        taken = time.perf_counter() - begun
        rows.append(ratio(f"1000 steps {name}, host clock", taken, "1000 times one", 1000 * step, "1.03 at most"))
    return rows


def fir() -> list[Row]:
    """Taps as macros beside taps in memory."""
    size = timing.gpu_size(bytes_per_element=8, most=2**27)
    x, taps = map(cupy.asarray, lesson.load(lesson.find("09"), ["nvrtc"]).make_inputs(size))
    y, text = cupy.empty(size, cupy.float32), ",".join(f"{tap.hex()}f" for tap in taps.tolist())
    seconds = []
    for options, outputs in (((), 1), ((f"-DTAPS={text}", "-DOUTPUTS=4"), 4)):
        kernel = cupy.RawModule(code=kernels.source("fir"), options=options).get_function("fir")
        launch = (-(-size // (256 * outputs)),), (256,), (x, taps, np.int32(16), y, np.int64(size))
        seconds.append(device(functools.partial(kernel, *launch)))
    return [ratio("fir, known taps, 4 outputs a thread", seconds[1], "fir as it stands", seconds[0], "0.67 at most")]


def colmeans() -> list[Row]:
    """Each repair of lesson 07 beside the form before it."""
    x = cupy.floor(4096 * cupy.random.default_rng(5).random((128, 2048, 512), dtype=cupy.float32))
    means = cupy.empty((x.shape[0], x.shape[2]), cupy.float32)

    def taken(columns: int, *options: str) -> float:
        module = cupy.RawModule(code=kernels.source("colmeans"), options=(f"-DCOLUMNS={columns}", *options))
        grid, arguments = (x.shape[0] * -(-x.shape[2] // columns),), (x, means, *map(np.int64, x.shape))
        return device(functools.partial(module.get_function("colmeans"), grid, (128,), arguments))

    as_found, gathered = taken(1, "-DROOM=12288"), taken(32, "-DROOM=12288")
    ahead = taken(32, "-DROOM=12288", "-DAHEAD=16")
    return [
        ratio("fewer sectors a request", gathered, "as found", as_found, "0.8 at most"),
        ratio("more warps", taken(32), "fewer sectors", gathered, "0.8 at most"),
        ratio("more requests a warp", ahead, "fewer sectors", gathered, "0.95 at most"),
    ]


def plugin() -> list[Row]:
    """The library's kernel and its plug-in, linked by cuda.core from LTO-IR and from PTX."""
    x = cupy.ones(timing.gpu_size(bytes_per_element=8, most=2**26), cupy.float32)
    y, size, arch = cupy.empty_like(x), np.int64(x.size), toolchain.gpus()[0].arch
    grid = (-(-x.size // 256),)

    def linked_from(form: str, **compiled: Any) -> Callable[[], Any]:
        options = ProgramOptions(arch=arch, define_macro="PLUGIN", **compiled)
        units = [Program(text, "c++", options).compile(form) for text in (kernels.source("apply_transform"), PLUGIN)]
        wanted = LinkerOptions(arch=arch, link_time_optimization=form == "ltoir", no_cache=True)
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            Path(file.name).write_bytes(bytes(Linker(*units, options=wanted).link("cubin").code))
            kernel = cupy.RawModule(path=file.name).get_function("apply_transform")
        return functools.partial(kernel, grid, (256,), (x, y, size))

    lto = device(linked_from("ltoir", link_time_optimization=True))
    ptx = device(linked_from("ptx", relocatable_device_code=True))
    return [ratio("linked from LTO-IR", lto, "linked from PTX", ptx, "0.33 at most")]


def linked() -> list[Row]:
    """The builds of `fourways link` beside one source."""
    builds = {row["build"]: row["seconds"]["median"] for row in linking.link_all() if row.get("seconds")}
    one = builds.pop("one source")
    return [
        ratio(name, taken, "one source", one, "1.03 at most" if name in ("LTO-IR, nvJitLink", "nvcc -dlto") else "")
        for name, taken in builds.items()
    ]
