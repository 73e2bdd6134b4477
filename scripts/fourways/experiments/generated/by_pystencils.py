"""What pystencils makes of a formula, how long it takes, and what it keeps between calls.

pystencils, which needs Python 3.12, is imported where it is used.
"""

import os
import shutil
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fourways import building, files, fresh_process, kernels, toolchain
from fourways.tables import Row, Table, summary

_PRELUDE = '#include <cuda/std/cstdint>\n#define RESTRICT __restrict__\n\nextern "C" '
_PROGRAM = r"""
import json, time

import cupy
import numpy as np

seconds = {}

def timed(stage, call):
    start = time.perf_counter()
    result = call()
    seconds[stage] = time.perf_counter() - start
    return result

ps = timed("import pystencils", lambda: __import__("pystencils"))
u, v = ps.fields("u, v: float32[2D]")
heat = ps.Assignment(v.center(), (u[-1, 0] + u[1, 0] + u[0, -1] + u[0, 1]) / 4)
on_cpu = timed("from the formula to the text", lambda: ps.create_kernel(heat))
timed("CpuJit, first time", on_cpu.compile)
timed("CpuJit, from its cache", on_cpu.compile)
if GPU:
    plate = cupy.ones((64, 64), cupy.float32)
    answer = plate.copy()

    def launched():
        ps.create_kernel(heat, target=ps.Target.CUDA).compile()(u=plate, v=answer)
        cupy.cuda.get_current_stream().synchronize()

    timed("text, CupyJit and a launch, first time", launched)
    timed("text, CupyJit and a launch, again in this process", launched)
print(json.dumps(seconds))
"""


def compiler_on_path() -> None:
    """Put the C++ compiler of the host way on PATH as g++, for pystencils, if PATH has no g++: so it is with conda."""
    compiler = toolchain.host_compiler()
    if compiler and not shutil.which("g++"):
        wrapper = _folder() / "bin" / "g++"
        files.write_text(wrapper, f'#!/bin/sh\nexec "{compiler}" "$@"\n')
        wrapper.chmod(0o755)
        os.environ["PATH"] = f"{wrapper.parent}{os.pathsep}{os.environ.get('PATH', '')}"


def _folder() -> Path:
    return kernels.root() / "build" / "10_generated"


def grids(wrapper: Any, *shapes: tuple[int, int]) -> None:
    """Print a pystencils GPU kernel's grid and block for plates u of these shapes, as its launch_config says."""
    from pystencils.codegen.properties import FieldShape

    for shape in shapes:
        config = wrapper.launch_config
        sizes = {
            parameter.name: shape[size.coordinate]
            for parameter in config.parameters
            for size in parameter.properties
            if isinstance(size, FieldShape)
        }
        block, grid = config.evaluate(**sizes)
        print(f"{shape[0]} × {shape[1]} cells: blocks of {block}, a grid of {grid}")


def kept_launches(wrapper: Any) -> None:
    """Print the launches that a GPU kernel of pystencils has kept for calls that come again, with equal ids."""
    for _, launch in wrapper._args_cache.values():
        print(launch)


def right_calls(kernel: Any, shares: Mapping[str, Callable[[int], Any]]) -> None:
    """Call a GPU kernel of pystencils four times with each kind of share, and print how many answers are right.

    `kernel` has the fields u and v and the parameter c: v = u - c * (u - its left neighbour). `shares[title](n)` must
    be 0.25 * n when the kernel is called, for n from 0 to 3.
    """
    import cupy as cp

    u = cp.random.default_rng(1).random((22, 45), dtype=cp.float32)
    v = u.copy()
    for title, share in shares.items():
        wrapper, right = kernel.compile(), 0
        for n in range(4):
            wrapper(u=u, v=v, c=share(n))
            here, left = u[1:-1, 1:-1], u[1:-1, :-2]
            wanted = here - cp.float32(0.25 * n) * (here - left)
            right += bool(cp.allclose(v[1:-1, 1:-1], wanted))
        print(f"{title}: {right} of 4 right")


def costs(samples: int = 3) -> Table:
    """Time pystencils' stages from the import to a compiled kernel (host clock), each sample in a fresh process.

    Its caches and CuPy's are empty at first. CuPy is imported before. Without a GPU the stages of CupyJit are missing.
    The last row is nvcc's time for the GPU's text, ahead of time.
    """
    import pystencils as ps

    told: list[dict[str, float]] = []
    program = f"GPU = {toolchain.missing('gpu') is None}\n{_PROGRAM}"
    for _ in range(samples):
        with TemporaryDirectory() as folder:
            cold = toolchain.child_environment() | toolchain.cold_caches(Path(folder)) | {"XDG_CACHE_HOME": folder}
            told.append(fresh_process.answer(program, environment=cold))
    rows: list[Row] = [
        {"stage": stage, "clock": "host", "seconds": summary([each[stage] for each in told])} for stage in told[0]
    ]
    u, v = ps.fields("u, v: float32[2D]")
    heat = ps.Assignment(v.center(), (u[-1, 0] + u[1, 0] + u[0, -1] + u[0, 1]) / 4)
    path = kernel_file(ps.create_kernel(heat, target=ps.Target.CUDA, function_name="heat", jit=ps.no_jit))
    ahead = [building.build(path, "nvcc", options=(f"-DSAMPLE={number}",)).seconds for number in range(samples)]
    rows.append({"stage": "nvcc, ahead of time", "clock": "host", "seconds": summary(ahead)})
    return Table("costs", rows, ("stage", "seconds"), f"Host clock, {samples} fresh processes.")


def kernel_file(kernel: Any) -> Path:
    """Write the text of a GPU kernel of pystencils into a file NAME.cu that CUDA's compilers take; return its path."""
    path = _folder() / f"{kernel.name}.cu"
    files.write_text(path, cuda_text(kernel))
    return path


def cuda_text(kernel: Any) -> str:
    """Return the text of a GPU kernel of pystencils as CUDA's compilers take it.

    Before pystencils' text stand the header with `int64_t`, the meaning of `RESTRICT`, and `extern "C"`.
    """
    return _PRELUDE + kernel.get_c_code() + "\n"


_ORDERS = r"""
import re

import pystencils as ps
from pystencils.jit.cpu import GccInfo
from pystencils.jit.cpu.default_module_builder import DefaultExtensionModuleBuilder

config = ps.CreateKernelConfig(jit=ps.no_jit)
for pair in "ab cd ef gh ij kl mn op qr st uv wx yz".split():
    first, second = ps.fields(", ".join(pair) + ": float32[2D]")
    kernel = ps.create_kernel(ps.Assignment(second.center(), first.center()), config)
    text = DefaultExtensionModuleBuilder(GccInfo()).render_module(kernel, "module")
    print(*re.findall(r"&array_proxy_(\w)", text), sep="", end=" ")
"""


def startup_of_fast_math() -> str:
    """Return the path of GCC's crtfastmath.o, or its bare name if the host compiler has none."""
    return toolchain.run(str(toolchain.host_compiler()), "-print-file-name=crtfastmath.o").stdout.strip()


def multiply_subnormals(kernel: Any, jit: Any) -> None:
    """Compile a CPU kernel of pystencils by `jit` and import it in a new thread; multiply 1e-40 by 1 there by NumPy."""

    def work() -> None:
        jit.compile(kernel)
        product = np.full(4, 1e-40, np.float32) * np.float32(1)
        flags = " ".join(Path(flag).name for flag in jit._compiler_info.cxxflags())
        print(f"{flags}: 1e-40 times 1 is {product[0]!s}")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def orders_of_fields() -> None:
    """Print in which order the texts of 13 CPU kernels check their two fields, as each of two processes writes them."""
    for _ in range(2):
        print(toolchain.run(sys.executable, "-c", _ORDERS).stdout.strip())
