"""The list of everything a lesson can use on this machine: where it is, which version, and why that one was taken."""

import ctypes
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
        _header("CUDA headers", toolchain.header_dirs("crt/host_defines.h", ""), "cuda_runtime_api.h"),
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


def _taken(name: str, paths: list[Path], version: str | None, note: str = "") -> Tool:
    """The first of `paths`, and why: its origin comes before the others'."""
    if not paths:
        return Tool(name)
    later = ", ".join(dict.fromkeys(origin(path) for path in paths[1:]))
    why = f"{note}from {origin(paths[0])}" + (f", preferred to {later}" if later else "")
    return Tool(name, paths[0], version, why, tuple(paths[1:]))


def origin(path: Path) -> str:
    """Where a file comes from, in words: the toolkit it lies in, or the folder."""
    for root in toolchain.roots():
        if path.is_relative_to(root.folder):
            return ORIGINS.get(root.origin, root.origin)
    return "this Python environment" if path.is_relative_to(sys.prefix) else f"PATH, {path.parent}"


def _program(name: str, paths: list[Path]) -> Tool:
    return _taken(name, paths, toolchain.program_version(paths[0]) if paths else None)


def _header(name: str, folders: list[Path], marker: str) -> Tool:
    return _taken(name, folders, toolchain.header_version(folders[0] / marker) if folders else None)


def _library(name: str, pathfinder_name: str, pattern: str) -> Tool:
    """The library that CuPy and cuda.core load, which cuda.pathfinder decides; the others are only listed."""
    folders = ("lib", "lib64", f"{toolchain.TARGET}/lib")
    found = [
        path for path in toolchain.in_roots(*(f"{folder}/{pattern}" for folder in folders)) if "alt" not in path.name
    ]
    loaded = toolchain.loaded_library(pathfinder_name)
    if loaded is None:
        return Tool(name, why="not found by cuda.pathfinder", passed_over=tuple(found))
    others = [path for path in found if path.resolve() != loaded.resolve()]
    return _taken(
        name, [loaded, *others], toolchain.library_version(name, loaded), "the one that CuPy and cuda.core load, "
    )


def _package(name: str, module: str, distributions: tuple[str, ...]) -> Tool:
    file = toolchain.installed(module)
    if file is None:
        return Tool(name)
    return _taken(
        name,
        [file.parent if file.stem == "__init__" else file],
        next(iter(toolchain.distributions(*distributions).values()), None),
    )


def nvrtc_architectures(library: Path) -> list[int]:
    """The architectures that an NVRTC compiles for, as it says itself: [75, 80, ...]; empty if it cannot be asked."""
    count = ctypes.c_int()
    try:
        nvrtc = ctypes.CDLL(str(library))
        nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count))
        numbers = (ctypes.c_int * count.value)()
        nvrtc.nvrtcGetSupportedArchs(numbers)
    except (OSError, AttributeError):
        return []
    return sorted(numbers)


def newest_host_compiler(include: Path | None, kind: str) -> int | None:
    """The newest major version of gcc or clang that nvcc takes, as its own crt/host_config.h says."""
    header = include / "crt" / "host_config.h" if include else None
    if header is None or not header.is_file():
        return None
    macro = {"gcc": "__GNUC__", "clang": "__clang_major__"}[kind]
    found = re.search(rf"{macro} (>=?) (\d+)", header.read_text(errors="replace"))
    return int(found[2]) - (found[1] == ">=") if found else None


def pycuda_built_against() -> tuple[str | None, str]:
    """The CUDA version that PyCUDA was compiled with, or None and why it cannot be imported. Asks another process."""
    script = "import pycuda.driver as d; print('CUDA %d.%d.%d' % d.get_version())"
    done = toolchain.run(sys.executable, "-W", "ignore", "-c", script)
    found = re.search(r"CUDA (\d+\.\d+)", done.stdout)
    return (found[1] if found else None), (done.stderr.strip().splitlines() or ["no message"])[-1]


def binding_architectures(module: Path) -> set[str]:
    """What a compiled module holds: "sm_90" for machine code, "compute_90" for PTX; empty if it cannot be read."""
    tool = toolchain.program("cuobjdump")
    if tool is None:
        return set()
    machine = re.findall(r"\bsm_\d+[af]?\b", toolchain.run(str(tool), "--list-elf", str(module)).stdout)
    ptx = re.findall(r"\bsm_(\d+[af]?)\b", toolchain.run(str(tool), "--list-ptx", str(module)).stdout)
    return set(machine) | {f"compute_{number}" for number in ptx}
