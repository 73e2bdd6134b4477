"""The tools that a lesson can use on this machine: file or folder, version, and what named this place."""

import contextlib
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fourways import kernels, profiling, toolchain

_BUILDERS = ("cmake", "ninja")
_MODULES = {
    "cupy": toolchain.CUPY,
    "cuda.core": ("cuda-core",),
    "cuda.bindings": ("cuda-bindings",),
    "pycuda": ("pycuda",),
    "pybind11": ("pybind11",),
    "fourways_aot": ("fourways",),
}


@dataclass(frozen=True)
class Tool:
    """A tool: its file or folder, None if it is missing, its version, and what named this place ("CUDA_PATH")."""

    name: str
    path: Path | None = None
    version: str | None = None
    why: str = ""


def tools() -> dict[str, Tool]:
    """Return every tool by its name, missing ones too. Each program is asked for its version."""
    try:
        host = toolchain.host_compiler()
    except kernels.InputError:  # `_lacking` says why
        host = None
    beside = {name: shutil.which(name, path=Path(sys.executable).parent) or shutil.which(name) for name in _BUILDERS}
    paths = {name: toolchain.program(name) for name in ("nvcc", "cuobjdump", "nvdisasm")}
    with contextlib.suppress(FileNotFoundError):
        paths["ncu"] = Path(profiling.find_ncu())
    paths |= {"host compiler": host} | {name: Path(path) if path else None for name, path in beside.items()}
    listed = [_tool(name, path, toolchain.program_version) for name, path in paths.items()]
    for name in ("NVRTC", "nvJitLink"):  # the ones that CuPy and cuda.core load
        library = toolchain.loaded_library(name if name == "nvJitLink" else name.lower())
        listed.append(_tool(name, library, partial(toolchain.library_version, name)))
    headers = toolchain.cuda_headers()
    listed.append(_tool("CUDA headers", headers and headers / "cuda_runtime_api.h", toolchain.header_version, headers))
    for module, names in _MODULES.items():
        file = toolchain.installed(module)
        told = next(iter(toolchain.distributions(*names).values()), None)
        place = file.parent if file and file.stem == "__init__" else file
        listed.append(_tool(module, place, partial(lambda version, _: version, told)))
    if driver := toolchain.driver():
        listed.append(Tool("driver", toolchain.loaded_library("cuda"), driver.version, f"CUDA {driver.cuda}"))
    return {tool.name: tool for tool in listed}


def _tool(name: str, file: Path | None, version: Callable[[Path], str | None], place: Path | None = None) -> Tool:
    """Return a tool with the version that `version(file)` gives; its path is `place`, by default the file."""
    path = place or file
    return Tool(name, path, version(file), f"from {origin(path)}") if file and path else Tool(name, why="not found")


def origin(path: Path) -> str:
    """Return in words where a file comes from: the toolkit that holds it, or the folder."""
    named = (words for root, words in toolchain.roots().items() if path.is_relative_to(root))
    own = "this Python environment" if path.is_relative_to(sys.prefix) else f"PATH, {path.parent}"
    return next(named, own)
