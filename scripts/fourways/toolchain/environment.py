"""Environment variables for processes that compile: the toolkit and this package."""

import os
import platform
import shutil
import sys
from pathlib import Path

from fourways import files, kernels
from fourways.toolchain.find import host_compiler, nvcc
from fourways.toolchain.versions import version


def variables() -> dict[str, str]:
    """Return the variables that make CuPy, PyCUDA, CMake and a shell use the same toolkit; {} if there is no nvcc."""
    compiler = nvcc()
    if compiler is None:
        return {}
    root, bin_folder = compiler.parents[1], str(compiler.parent)
    path = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder != bin_folder]
    chosen = {"PATH": os.pathsep.join([bin_folder, *path]), "CUDA_PATH": str(root), "CUDA_HOME": str(root)}
    chosen["CUDACXX"] = str(compiler)
    if " " not in str(compiler):  # CuPy splits NVCC at blanks
        chosen["NVCC"] = str(compiler)
    if not (root / "lib64").is_dir() and not (root / "targets").is_dir():  # wheels: nvcc does not link from their lib/
        libraries = [folder for folder in os.environ.get("LIBRARY_PATH", "").split(os.pathsep) if folder]
        chosen["LIBRARY_PATH"] = os.pathsep.join(dict.fromkeys([str(root / "lib"), *libraries]))
    if version(platform.libc_ver()[1]) >= version("2.42"):  # see cpp/glibc/bits/mathcalls.h
        headers = [str(kernels.root() / "cpp" / "glibc"), *os.environ.get("CPLUS_INCLUDE_PATH", "").split(os.pathsep)]
        chosen["CPLUS_INCLUDE_PATH"] = os.pathsep.join(dict.fromkeys(filter(None, headers)))
    host = host_compiler()
    if host and (os.environ.get("CXX") or not shutil.which("gcc")):  # nvcc takes gcc unless told otherwise
        chosen["NVCC_CCBIN"] = os.environ.get("NVCC_CCBIN", str(host))
    return chosen


def activate() -> None:
    """Set `variables()` in this process, and let PATH begin with the toolkit, then this Python's own programs.

    Call it before CuPy or PyCUDA compile. In a notebook, `!python` and `!cmake` are then this Python's.
    """
    own = str(Path(sys.executable).parent)
    path = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder != own]
    os.environ["PATH"] = os.pathsep.join([own, *path])
    os.environ.update(variables())


def child_environment() -> dict[str, str]:
    """Return all variables for a fresh Python process, so that it uses this package, this clone and this toolkit."""
    paths = [str(Path(__file__).parents[2]), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    ours = {"FOURWAYS_ROOT": str(kernels.root()), "FOURWAYS_CACHE_DIR": str(files.cache_dir())}
    ours["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, paths))
    return os.environ | variables() | ours
