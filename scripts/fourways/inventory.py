"""The list of everything a lesson can use on this machine: where it is, which version, and why that one was taken."""

import ctypes
import functools
import importlib.metadata
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from fourways import toolchain

ORIGINS = {"wheels": "this environment's wheels", "conda": "the conda environment", "PATH": "the nvcc on PATH"}
# import name -> names of the distributions that bring it, for people and for their version
PACKAGES = {
    "CuPy": ("cupy", ("cupy-cuda13x", "cupy-cuda12x", "cupy")),
    "cuda.core": ("cuda.core", ("cuda-core",)),
    "cuda.bindings": ("cuda.bindings", ("cuda-bindings",)),
    "PyCUDA": ("pycuda", ("pycuda",)),
    "pybind11": ("pybind11", ("pybind11",)),
    "fourways_aot": ("fourways_aot", ("fourways",)),
}


@dataclass(frozen=True)
class Tool:
    """A thing that was looked for; `path` is None where it is not here, `why` says why this one was taken."""

    name: str
    path: Path | None = None
    version: str | None = None
    why: str = "not found"
    passed_over: tuple[Path, ...] = ()


def tools() -> dict[str, Tool]:
    """Every tool by its name, found or not. Takes about a second: it runs the programs for their versions."""
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    found = [
        *(_program(name, toolchain.programs(name)) for name in ("nvcc", "cuobjdump", "nvdisasm")),
        _library("NVRTC", "nvrtc", "libnvrtc.so.*"),
        _library("nvJitLink", "nvJitLink", "libnvJitLink.so.*"),
        _header("CUDA headers", toolchain.header_dirs("cuda_runtime_api.h", ""), "cuda_runtime_api.h"),
        _header("CCCL", toolchain.header_dirs("cub/version.cuh", "cccl/", ""), "cuda/std/__cccl/version.h"),
        _program("host compiler", toolchain.host_compilers()),
        *(_program(name, _which(name, beside)) for name in ("cmake", "ninja")),
        *(_package(name, module, dists) for name, (module, dists) in PACKAGES.items()),
        *(_program(name, toolchain.programs(name)) for name in ("ncu", "nsys")),
    ]
    return {tool.name: tool for tool in found}


def _which(name: str, path: str) -> list[Path]:
    found = shutil.which(name, path=path)
    return [Path(found)] if found else []


def _taken(name: str, paths: list[Path], version: str | None, why: str | None = None) -> Tool:
    return Tool(name, paths[0], version, why or f"from {origin(paths[0])}", tuple(paths[1:])) if paths else Tool(name)


def origin(path: Path) -> str:
    """Where a file comes from, in words: the toolkit it lies in, or the folder."""
    for root in toolchain.roots():
        if path.is_relative_to(root.folder):
            return ORIGINS.get(root.origin, root.origin)
    return "this Python environment" if path.is_relative_to(sys.prefix) else f"PATH, {path.parent}"


def _program(name: str, paths: list[Path]) -> Tool:
    return _taken(name, paths, program_version(paths[0]) if paths else None)


@functools.cache
def program_version(path: Path) -> str | None:
    """What a program prints for `--version`: nvcc's "V13.0.88", g++'s "12.2.0"."""
    printed = toolchain.output_of(str(path), "--version")
    found = re.search(r"\bV(\d+\.\d+\.\d+)", printed) or re.search(r"(\d+\.\d+(?:\.\d+)*)", printed)
    return found[1] if found else None


def _header(name: str, folders: list[Path], marker: str) -> Tool:
    return _taken(name, folders, _header_version(folders[0] / marker) if folders else None)


def _header_version(header: Path) -> str | None:
    """CUDART_VERSION 13000 is "13.0", CCCL_VERSION 3000001 is "3.0.1"."""
    text = header.read_text(errors="replace") if header.is_file() else ""
    if found := re.search(r"#define\s+CUDART_VERSION\s+(\d+)", text):
        return toolchain.cuda_version(int(found[1]))
    if found := re.search(r"#define\s+CCCL_VERSION\s+(\d+)", text):
        number = int(found[1])
        return f"{number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}"
    return None


def _library(name: str, pathfinder_name: str, pattern: str) -> Tool:
    """The library that CuPy and cuda.core load, which cuda.pathfinder decides; the others are only listed."""
    folders = ("lib", "lib64", f"{toolchain.TARGET}/lib")
    found = [
        path for path in toolchain.in_roots(*(f"{folder}/{pattern}" for folder in folders)) if "alt" not in path.name
    ]
    loaded = loaded_library(pathfinder_name)
    if loaded is None:
        return Tool(name, why="not found by cuda.pathfinder", passed_over=tuple(found))
    others = [path for path in found if path.resolve() != loaded.resolve()]
    why = f"the one that CuPy and cuda.core load, from {origin(loaded)}"
    return _taken(name, [loaded, *others], library_version(name, loaded), why)


def loaded_library(name: str) -> Path | None:
    """The file that `cuda.pathfinder` loads for a library of CUDA, or None. Loads it."""
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib

        path = load_nvidia_dynamic_lib(name).abs_path
    except (ImportError, RuntimeError):  # pathfinder's DynamicLibNotFoundError is a RuntimeError
        return None
    return Path(path) if path else None


def library_version(name: str, path: Path) -> str | None:
    """What the library says itself, "13.0"; `name` is NVRTC or nvJitLink."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    try:
        function = getattr(ctypes.CDLL(str(path)), {"NVRTC": "nvrtcVersion", "nvJitLink": "nvJitLinkVersion"}[name])
    except (OSError, AttributeError):
        return None
    return f"{major.value}.{minor.value}" if function(ctypes.byref(major), ctypes.byref(minor)) == 0 else None


def _package(name: str, module: str, distributions: tuple[str, ...]) -> Tool:
    file = toolchain.installed(module)
    if file is None:
        return Tool(name)
    return Tool(name, file, next(iter(versions(*distributions).values()), None), f"imported from {origin(file)}")


def versions(*distributions: str) -> dict[str, str]:
    """The installed ones of these distributions, with their versions."""
    found = {}
    for name in distributions:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
