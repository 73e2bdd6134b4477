"""Messages for what this machine lacks: one line for each tool or package, with its remedy."""

import importlib.util
import sys
from pathlib import Path

from fourways.toolchain.driver import driver, gpus
from fourways.toolchain.find import host_compiler, nvcc
from fourways.toolchain.versions import version

SETUP = "make setup"
NO_NVCC = f"no nvcc found: {SETUP}"
_NO_DRIVER = "no NVIDIA driver: this way runs on a machine with an NVIDIA GPU"

_OLDEST_CUDA = (13, 0)
_CUDA = "'cuda-toolkit==13.0.*'"  # otherwise pip replaces the lessons' CUDA by that of the newest PyTorch
_ABSENT = {
    "nvcc": NO_NVCC,
    "host compiler": "no C++ compiler found: install g++ (on Debian and Ubuntu: apt install g++)",
    "cupy": f"CuPy is not installed: {SETUP}",
    "pycuda": "PyCUDA is not installed: fourways install-pycuda",
    "fourways_aot": f"the pybind11 module fourways_aot is not built: {SETUP}",
    "pystencils": f"pystencils is not installed: {SETUP}, with Python 3.12 or newer, as pystencils 2.1 wants it",
    "distributed": f"Dask's distributed is not installed: {SETUP}",
    "Cython": f"Cython is not installed: {SETUP}",
    "nanobind": f"nanobind is not installed: {SETUP}",
    "torch": f"PyTorch is not installed: pip install torch {_CUDA}",
    "numba": "Numba for CUDA is not installed: pip install 'numba-cuda-mlir[cu13]'",
    "tvm_ffi": "apache-tvm-ffi is not installed: pip install apache-tvm-ffi",
    "nccl": "nccl4py is not installed: pip install 'nccl4py[cu13]'",
    "cutensor": "cuTENSOR is not installed: pip install cutensor-cu13",
}
MORE = ("torch", "numba", "tvm_ffi", "nccl", "cutensor")
"""The packages of `PACKAGES` that need a GPU: the extra `more` of pyproject.toml, which `make setup` leaves out."""
PACKAGES = ("pystencils", "distributed", "Cython", "nanobind", *MORE)
"""The packages, by module name, that some lessons use in addition to the ways."""


def missing(need: str) -> str | None:
    """Return one line that says why this machine lacks `need`, with the remedy, or None if it has it.

    `need` is "gpu", "two-gpus", "nvcc", "host compiler", "cupy", "pycuda", "fourways_aot" or one of `PACKAGES`.
    """
    if need == "gpu":
        present = driver()
        if present is None:
            return _NO_DRIVER
        if version(present.cuda).release < _OLDEST_CUDA:
            which = f"the NVIDIA driver {present.version or ''}".rstrip()
            return f"{which} serves CUDA {present.cuda}, not 13.0: update it to 580 or newer, or take another machine"
        reason = present.problem or "CUDA_VISIBLE_DEVICES may hide it"
        return None if gpus() else f"the NVIDIA driver shows no GPU ({reason}): `nvidia-smi` tells more"
    if need == "two-gpus":
        return missing("gpu") or (None if len(gpus()) > 1 else "one GPU here: this runs on a machine with two")
    module = "nccl.core" if need == "nccl" else need  # `nccl` itself is a namespace: several packages share it
    there = nvcc() if need == "nvcc" else host_compiler() if need == "host compiler" else installed(module)
    if need == "numba":  # numba-cuda, or its successor numba-cuda-mlir
        there = there or installed("numba_cuda_mlir")
    if need == "cutensor":  # the wheel holds a library, and no module
        libraries = (each for entry in sys.path for each in Path(entry, "cutensor", "lib").glob("libcutensor.so*"))
        there = there or next(libraries, None)
    return None if there else _ABSENT[need]


def installed(module: str) -> Path | None:
    """Return the file of an importable module, or None. Imports nothing except the parent package of a submodule."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec and spec.origin else None
