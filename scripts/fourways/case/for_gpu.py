"""Asks a GPU's compiler about a kernel that runs on the CPU: does it compile, and does its text differ there?"""

import re

from fourways import building, kernels, toolchain
from fourways.case.case import Case

_ASKS = re.compile(r"\b__(?:CUDACC__|CUDA_ARCH__|NVCC__|CUDACC_RTC__|CUDACC_VER_\w+__)")


def on_a_gpu(case: Case) -> tuple[str | None, str | None]:
    """Return two lines on a case's kernel, or None: that its text differs where a GPU's compiler reads it; its refusal.

    The kernel is compiled for this machine's GPU, or for sm_90, by NVRTC, or by nvcc where NVRTC refuses. Where neither
    is installed nothing is compiled.
    """
    arch = toolchain.gpu_arch()
    there = {"nvrtc": toolchain.loaded_library("nvrtc"), "nvcc": toolchain.nvcc()}
    compilers = [name for name in building.COMPILERS if there[name]]
    note, refusal = None, None
    if asked := _ASKS.search(kernels.without_comments(case.source)):
        done = "compiled but not run" if compilers else "neither compiled nor run"
        note = f"{case.path.name} asks for {asked[0]}: the CPU ran its own branch; the GPU's branch was {done}."
    for compiler in compilers:
        try:
            building.build(case.path, compiler, arch, options=case.options)
        except building.BuildError as error:
            refusal = f"compiles for the CPU, but not for {arch}: {error.brief}"
        else:
            return note, None
    return note, refusal
