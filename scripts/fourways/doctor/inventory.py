"""The list of everything a lesson can use on this machine: where it is, which version, and why that one was taken."""

import ctypes
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fourways import toolchain


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
    headers = toolchain.cuda_header_dirs()
    cccl = toolchain.header_dirs("cub/version.cuh", "cccl/", "")
    found = [
        *(_program(name, toolchain.programs(name)) for name in ("nvcc", "cuobjdump", "nvdisasm")),
        _library("NVRTC", "nvrtc", "libnvrtc.so.*"),
        _library("nvJitLink", "nvJitLink", "libnvJitLink.so.*"),
        _taken("CUDA headers", headers, lambda folder: toolchain.header_version(folder / "cuda_runtime_api.h")),
        _taken("CCCL", cccl, lambda folder: toolchain.header_version(folder / "cuda/std/__cccl/version.h")),
        _program("host compiler", toolchain.host_compilers()),
        *(_program(name, _beside_python(name)) for name in ("cmake", "ninja")),
        _package("CuPy", *toolchain.CUPY),
        *(_package(name, name.replace(".", "-")) for name in ("cuda.core", "cuda.bindings", "PyCUDA", "pybind11")),
        _package("fourways_aot", "fourways"),
        *(_program(name, toolchain.programs(name)) for name in ("ncu", "nsys")),
        _driver(),
    ]
    return {tool.name: tool for tool in found}


def _program(name: str, paths: list[Path]) -> Tool:
    return _taken(name, paths, toolchain.program_version)


def _beside_python(name: str) -> list[Path]:
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    return [Path(found)] if found else []


def _library(name: str, pathfinder_name: str, pattern: str) -> Tool:
    """The library that CuPy and cuda.core load, which cuda.pathfinder decides; the others are only listed."""
    patterns = (f"lib/{pattern}", f"lib64/{pattern}", f"{toolchain.TARGET}/lib/{pattern}")
    found = [path for path in toolchain.in_roots(*patterns) if "alt" not in path.name]
    loaded = toolchain.loaded_library(pathfinder_name)
    if loaded is None:
        return Tool(name, why="not found by cuda.pathfinder", passed_over=tuple(found))
    paths = [loaded, *(path for path in found if path.resolve() != loaded.resolve())]
    note = "the one that CuPy and cuda.core load, "
    return _taken(name, paths, lambda path: toolchain.library_version(name, path), note)


def _package(name: str, *distributions: str) -> Tool:
    """A module, by its name as people write it; its version is that of the first distribution that is here."""
    file = toolchain.installed(name.lower())
    paths = [file.parent if file.stem == "__init__" else file] if file else []
    return _taken(name, paths, lambda _: next(iter(toolchain.distributions(*distributions).values()), None))


def _driver() -> Tool:
    """The driver's library, its version and the newest CUDA it knows."""
    driver = toolchain.driver()
    if driver is None:
        return Tool("driver")
    return Tool("driver", toolchain.loaded_library("cuda"), driver.version, f"CUDA {driver.cuda}")


def _taken(name: str, paths: list[Path], version: Callable[[Path], str | None], note: str = "") -> Tool:
    """The first of `paths`, its version, and where it is from."""
    if not paths:
        return Tool(name)
    return Tool(name, paths[0], version(paths[0]), f"{note}from {origin(paths[0])}", tuple(paths[1:]))


def origin(path: Path) -> str:
    """Where a file comes from, in words: the toolkit it lies in, or the folder."""
    for root in toolchain.roots():
        if path.is_relative_to(root.folder):
            return root.origin
    return "this Python environment" if path.is_relative_to(sys.prefix) else f"PATH, {path.parent}"


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
