"""The tools that a lesson can use on this machine: file, version, and the reason why this one was chosen."""

import ctypes
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fourways import kernels, toolchain


@dataclass(frozen=True)
class Tool:
    """A tool. `path` is None if it is missing. `why` says why this file was chosen instead of those `passed_over`."""

    name: str
    path: Path | None = None
    version: str | None = None
    why: str = "not found"
    passed_over: tuple[Path, ...] = ()


def tools() -> dict[str, Tool]:
    """Return every tool by its name, missing ones too. Takes about a second: each program is asked for its version."""
    headers = toolchain.cuda_header_dirs()
    cccl = toolchain.header_dirs("cub/version.cuh", "cccl/", "")
    listed = [
        *(_program(name, toolchain.programs(name)) for name in ("nvcc", "cuobjdump", "nvdisasm")),
        _library("NVRTC", "nvrtc", "libnvrtc.so.*"),
        _library("nvJitLink", "nvJitLink", "libnvJitLink.so.*"),
        _taken("CUDA headers", headers, lambda folder: toolchain.header_version(folder / "cuda_runtime_api.h")),
        _taken("CCCL", cccl, lambda folder: toolchain.header_version(folder / "cuda/std/__cccl/version.h")),
        _host_compiler(),
        *(_program(name, _beside_python(name)) for name in ("cmake", "ninja")),
        _package("CuPy", *toolchain.CUPY),
        *(_package(name, name.replace(".", "-")) for name in ("cuda.core", "cuda.bindings", "PyCUDA", "pybind11")),
        _package("fourways_aot", "fourways"),
        *(_program(name, toolchain.programs(name)) for name in ("ncu", "nsys")),
        _driver(),
    ]
    return {tool.name: tool for tool in listed}


def _program(name: str, paths: list[Path]) -> Tool:
    return _taken(name, paths, toolchain.program_version)


def _host_compiler() -> Tool:
    try:
        return _program("host compiler", toolchain.host_compilers())
    except kernels.InputError as error:
        return Tool("host compiler", why=str(error))


def _beside_python(name: str) -> list[Path]:
    path = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    return [Path(path)] if path else []


def _library(name: str, pathfinder_name: str, pattern: str) -> Tool:
    """Return the library that CuPy and cuda.core load: cuda.pathfinder chooses it, and the others are `passed_over`."""
    patterns = (f"lib/{pattern}", f"lib64/{pattern}", f"{toolchain.TARGET}/lib/{pattern}")
    candidates = [path for path in toolchain.in_roots(*patterns) if "alt" not in path.name]
    loaded = toolchain.loaded_library(pathfinder_name)
    if loaded is None:
        return Tool(name, why="not found by cuda.pathfinder", passed_over=tuple(candidates))
    paths = [loaded, *(path for path in candidates if path.resolve() != loaded.resolve())]
    note = "the one that CuPy and cuda.core load, "
    return _taken(name, paths, lambda path: toolchain.library_version(name, path), note)


def _package(name: str, *distributions: str) -> Tool:
    """Return a module by its usual spelling, with the version of the first installed one of `distributions`."""
    file = toolchain.installed(name.lower())
    paths = [file.parent if file.stem == "__init__" else file] if file else []
    return _taken(name, paths, lambda _: next(iter(toolchain.distributions(*distributions).values()), None))


def _driver() -> Tool:
    """Return the driver's library, its version and its newest CUDA version."""
    driver = toolchain.driver()
    if driver is None:
        return Tool("driver")
    return Tool("driver", toolchain.loaded_library("cuda"), driver.version, f"CUDA {driver.cuda}")


def _taken(name: str, paths: list[Path], version: Callable[[Path], str | None], note: str = "") -> Tool:
    """Return the first of `paths` as the chosen tool, with its version and its origin."""
    if not paths:
        return Tool(name)
    return Tool(name, paths[0], version(paths[0]), f"{note}from {origin(paths[0])}", tuple(paths[1:]))


def origin(path: Path) -> str:
    """Return in words where a file comes from: the toolkit that holds it, or the folder."""
    for root in toolchain.roots():
        if path.is_relative_to(root.folder):
            return root.origin
    return "this Python environment" if path.is_relative_to(sys.prefix) else f"PATH, {path.parent}"


def nvrtc_architectures(library: Path) -> list[int]:
    """Return the architectures that an NVRTC reports, [75, 80, ...], or [] if the library cannot be loaded."""
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
    """Return the newest major version of gcc or clang that nvcc accepts, from its crt/host_config.h, or None."""
    header = include / "crt" / "host_config.h" if include else None
    if header is None or not header.is_file():
        return None
    macro = {"gcc": "__GNUC__", "clang": "__clang_major__"}[kind]
    match = re.search(rf"{macro} (>=?) (\d+)", header.read_text(errors="replace"))
    if match is None:
        return None
    return int(match[2]) - 1 if match[1] == ">=" else int(match[2])


def pycuda_built_against() -> tuple[str | None, str]:
    """Import PyCUDA in another process; return the CUDA version it was built with (or None) and the last error line."""
    script = "import pycuda.driver as d; print('CUDA %d.%d.%d' % d.get_version())"
    done = toolchain.run(sys.executable, "-W", "ignore", "-c", script)
    match = re.search(r"CUDA (\d+\.\d+)", done.stdout)
    return (match[1] if match else None), (done.stderr.strip().splitlines() or ["no message"])[-1]


def binding_architectures(module: Path) -> set[str]:
    """Return the code in a compiled module: "sm_90" for machine code, "compute_90" for PTX; empty without cuobjdump."""
    tool = toolchain.program("cuobjdump")
    if tool is None:
        return set()
    machine = re.findall(r"\bsm_\d+[af]?\b", toolchain.run(str(tool), "--list-elf", str(module)).stdout)
    ptx = re.findall(r"\bsm_(\d+[af]?)\b", toolchain.run(str(tool), "--list-ptx", str(module)).stdout)
    return set(machine) | {f"compute_{number}" for number in ptx}
