"""Asks a GPU's compiler about a kernel that runs on the CPU: does it compile, and does its text differ there?"""

import re

from fourways import building, kernels, toolchain
from fourways.case.case import Case

_ASKS = re.compile(r"\b__(?:CUDACC__|CUDA_ARCH__|NVCC__|CUDACC_RTC__|CUDACC_VER_\w+__)")


def refused_for_gpu(case: Case) -> str | None:
    """Compile a case's kernel for this machine's GPU, or for sm_90, and return the compiler's refusal in one line.

    NVRTC compiles it, or nvcc where NVRTC refuses. Where neither is installed nothing is compiled.
    """
    arch = next((gpu.arch for gpu in toolchain.gpus()), "sm_90")
    refusals = []
    for compiler in _compilers():
        try:
            building.build(case.path, compiler, arch, options=case.options)
        except building.BuildError as error:
            refusals.append(error.brief)
        else:
            return None
    return f"compiles for the CPU, but not for {arch}: {refusals[-1]}" if refusals else None


def asks_for_gpu(case: Case) -> str | None:
    """Say, in one line, that the kernel's text differs where a GPU's compiler reads it; None where it does not."""
    if not (asked := _ASKS.search(kernels.without_comments(case.source))):
        return None
    done = "compiled but not run" if _compilers() else "neither compiled nor run"
    return f"{case.path.name} asks for {asked[0]}: the CPU ran its own branch; the GPU's branch was {done}."


def _compilers() -> list[str]:
    there = {"nvrtc": toolchain.loaded_library("nvrtc"), "nvcc": toolchain.nvcc()}
    return [name for name in building.COMPILERS if there[name]]
