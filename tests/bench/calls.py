"""Call costs on the host: the binding, a generated package and a checked launch, by the library of the arrays."""

import contextlib
import ctypes
import functools
import importlib
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cupy
import numpy as np
from ratios import medians, ratio, table

import fourways
import fourways_aot
from fourways import kernels, package, toolchain
from fourways.case import Case
from fourways.tables import Table

CASES = Path(__file__).parents[1] / "cases"
CALLS = 200  # so few in a row that the GPU's queue is never full
RAW = """
#include "softclip.cu"
#include <chrono>

// The seconds of a launch, out of `count` in a row.
extern "C" double launch(const float *x, const float *bias, float *y, int n, float gain, Knee knee, int count)
{
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) {
        softclip<<<(n + 255) / 256, 256>>>(x, bias, y, n, gain, knee);
        if (cudaGetLastError() != cudaSuccess)
            return -1;
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begun;
    return seconds.count() / count;
}
"""


class Knee(ctypes.Structure):
    """The struct of tests/cases/softclip.cu."""

    _fields_ = (("low", ctypes.c_float), ("high", ctypes.c_float))


def tables() -> Iterator[Table]:
    """All tables of this group."""
    yield of_binding()
    yield beside_cupy()
    yield of_checked()
    for name in ("pip", "scikit_build_core"):
        if not toolchain.installed(name):
            print(f"a generated package: skipped: {name} is not installed")
            return
    with tempfile.TemporaryDirectory(prefix="fourways-") as folder:
        yield of_package(Path(folder))


@functools.cache
def libraries() -> dict[str, Callable[[np.ndarray], Any]]:
    """By name of a library that is installed here: NumPy's array to the library's."""
    makers: dict[str, Callable[[np.ndarray], Any]] = {"CuPy": cupy.asarray}
    modules = {
        "torch": ("PyTorch", lambda module, array: module.from_numpy(array).cuda()),
        "numba.cuda": ("Numba", lambda module, array: module.to_device(array)),
        "pycuda.gpuarray": ("PyCUDA", lambda module, array: module.to_gpu(array)),
    }
    for name, (library, make) in modules.items():
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            print(f"arrays of {library}: skipped: {error}")
            continue
        makers[library] = lambda array, module=module, make=make: make(module, array)  # type: ignore[misc]
    return makers


@contextlib.contextmanager
def primary_context() -> Iterator[None]:
    """CuPy's context for PyCUDA, where that is installed."""
    if not toolchain.installed("pycuda"):
        yield
        return
    import pycuda.driver

    pycuda.driver.init()
    context = pycuda.driver.Device(0).retain_primary_context()
    context.push()
    try:
        yield
    finally:
        context.pop()


def batch(call: Callable[[], object], calls: int = CALLS) -> float:
    """The mean seconds of a call, out of `calls` in a row that nobody waits for."""
    begun = time.perf_counter()
    for _ in range(calls):
        call()
    elapsed = time.perf_counter() - begun
    cupy.cuda.Device().synchronize()
    return elapsed / calls


def of_binding() -> Table:
    """The stencil, with two arrays, and with a number as well; the raw launches are its loop in C++."""
    plate, steps = np.zeros((16, 16), np.float32), 200
    stencil, stencil_steps = fourways_aot.stencil, fourways_aot.stencil_steps
    with primary_context():
        pairs = {library: (make(plate), make(plate)) for library, make in libraries().items()}
        raw_u, raw_v = pairs["CuPy"]
        raw = "a launch from C++"
        batches = {raw: lambda: batch(lambda: stencil_steps(raw_u, raw_v, steps), 1) / steps}
        for library, (u, v) in pairs.items():
            batches[f"{library}'s arrays"] = lambda u=u, v=v: batch(lambda: stencil(u, v))
            batches[f"{library}'s, and a number"] = lambda u=u, v=v: batch(lambda: stencil_steps(u, v, 1))
        found = medians(batches)
    aims = {name: "1.5 at most" for name in found if name.startswith(("CuPy", "PyTorch"))}
    rows = [ratio(f"fourways_aot, {name}", found[name], raw, found[raw], aims.get(name, "")) for name in found]
    return table(rows[1:], "Host clock.")


def beside_cupy() -> Table:
    """A kernel of two arrays and a size, by the binding and by CuPy's RawKernel."""
    x, y = cupy.zeros((2, 1009), cupy.float32)
    source = 'extern "C" __global__ void k(const float *x, float *y, long long n) { if (n < 0) y[0] = x[0]; }'
    kernel, size = cupy.RawKernel(source, "k"), np.int64(x.size)
    ours, theirs = medians(
        {
            "ours": lambda: batch(lambda: fourways_aot.doublify(x, y)),
            "CuPy's": lambda: batch(lambda: kernel((4,), (256,), (x, y, size))),
        }
    ).values()
    return table([ratio("fourways_aot.doublify", ours, "cupy.RawKernel", theirs, "1.2 at most")], "Host clock.")


def of_checked() -> Table:
    """The five arguments of saxpy by `fourways.checked`, and by the kernel that it checks."""
    kernel = cupy.RawModule(code=kernels.source("saxpy")).get_function("saxpy")
    launch = fourways.checked(kernel)
    x, y, z = cupy.ones((3, 1024), cupy.float32)
    a, n, grid, block = np.float32(2), np.int64(1024), (1,), (256,)
    found = medians(
        {
            "CuPy": lambda: batch(lambda: kernel(grid, block, (a, x, y, z, n))),
            "checked": lambda: batch(lambda: launch(grid, block, (a, x, y, z, n))),
            "CuPy, numbers made": lambda: batch(
                lambda: kernel(grid, block, (np.float32(2.5), x, y, z, np.int64(1024)))
            ),
            "checked, Python's numbers": lambda: batch(lambda: launch(grid, block, (2.5, x, y, z, 1024))),
        },
        rounds=100,
    )
    pairs = (("checked", "CuPy"), ("checked, Python's numbers", "CuPy, numbers made"))
    rows = [ratio(ours, found[ours], theirs, found[theirs], "1 µs more at most") for ours, theirs in pairs]
    return table(rows, "Host clock; saxpy.")


def run(*words: object) -> None:
    """Run a program with the chosen toolkit; raises CalledProcessError."""
    environment = os.environ | toolchain.variables()
    environment["PATH"] = f"{sysconfig.get_path('scripts')}{os.pathsep}{environment['PATH']}"
    subprocess.run([*map(str, words)], check=True, env=environment, stdout=subprocess.DEVNULL)


def of_package(folder: Path) -> Table:
    """The package of tests/cases/softclip, built by pip for this GPU, and launches of the same kernel from C++."""
    arch = toolchain.gpus()[0].arch
    case = Case.load(CASES / "softclip.cu", case=CASES / "softclip.py")
    package.write(case, "softclip", folder / "softclip")
    one = f"--config-settings=cmake.define.CMAKE_CUDA_ARCHITECTURES={arch.removeprefix('sm_')}-real"
    offline = ("--quiet", "--no-index", "--no-deps", "--no-build-isolation")
    run(sys.executable, "-m", "pip", "install", *offline, one, "--target", folder / "site", folder / "softclip")
    sys.path.insert(0, str(folder / "site"))
    softclip = importlib.import_module("softclip")
    (folder / "raw.cu").write_text(RAW)
    words = ("-O3", "-std=c++17", f"-arch={arch}", "-shared", "-Xcompiler", "-fPIC", f"-I{CASES}")
    run(toolchain.nvcc(), *words, folder / "raw.cu", "-o", folder / "raw.so")
    launch = ctypes.CDLL(str(folder / "raw.so")).launch
    launch.restype = ctypes.c_double
    pointer, number = ctypes.c_void_p, ctypes.c_float
    launch.argtypes = [pointer, pointer, pointer, ctypes.c_int, number, Knee, ctypes.c_int]
    knee = np.array((-1, 2), softclip.KNEE)

    def raw(x: Any, bias: Any, y: Any) -> float:
        seconds = launch(x.data.ptr, bias.data.ptr, y.data.ptr, x.size, 1.5, Knee(-1, 2), CALLS)
        cupy.cuda.Device().synchronize()
        if seconds < 0:
            raise RuntimeError("a launch from C++ failed")
        return seconds

    def called(x: Any, bias: Any, out: Any) -> float:
        """Seconds of a call, written out: a call through another function would add to it."""
        function = softclip.softclip
        begun = time.perf_counter()
        for _ in range(CALLS):
            function(x, bias, 1.5, knee, out=out)
        elapsed = time.perf_counter() - begun
        cupy.cuda.Device().synchronize()
        return elapsed / CALLS

    makers = {name: make for name, make in libraries().items() if name in ("CuPy", "PyTorch")}
    arrays = {name: [make(np.ones(1024, "f4")) for _ in range(3)] for name, make in makers.items()}
    batches = {"C++": lambda: raw(*arrays["CuPy"])}
    batches |= {name: lambda of=of: called(*of) for name, of in arrays.items()}
    found = medians(batches)
    rows = [ratio(f"{name}'s arrays", found[name], "a launch from C++", found["C++"], "1.5 at most") for name in arrays]
    return table(rows, "Host clock; the generated package softclip.")
