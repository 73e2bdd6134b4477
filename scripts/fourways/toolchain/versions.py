"""Versions of programs, libraries, headers and installed distributions."""

import ctypes
import functools
import importlib.metadata
import re
from pathlib import Path

from packaging.version import Version

from fourways.toolchain.driver import cuda_version
from fourways.toolchain.find import run

CUPY = ("cupy-cuda13x", "cupy-cuda12x", "cupy")
"""The distributions of CuPy. An environment may have only one of them."""


def version(text: str | None) -> Version:
    """Return the major and minor version, for comparisons: 13.0 for "13.0.88", and 0 for None or ""."""
    return Version(".".join((text or "0").split(".")[:2]))


@functools.cache
def program_version(path: Path) -> str | None:
    """Return the version that a program prints for `--version` ("13.0.88" for nvcc, "12.2.0" for g++), or None."""
    printed = run(str(path), "--version").stdout
    match = re.search(r"\bV(\d+\.\d+\.\d+)", printed) or re.search(r"(\d+\.\d+(?:\.\d+)*)", printed)
    return match[1] if match else None


def header_version(header: Path) -> str | None:
    """Return the version that a header of CUDA or CCCL defines, or None.

    CUDART_VERSION 13000 is "13.0", CCCL_VERSION 3000001 is "3.0.1".
    """
    text = header.read_text(errors="replace") if header.is_file() else ""
    if match := re.search(r"#define\s+CUDART_VERSION\s+(\d+)", text):
        return cuda_version(int(match[1]))
    if match := re.search(r"#define\s+CCCL_VERSION\s+(\d+)", text):
        number = int(match[1])
        return f"{number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}"
    return None


def loaded_library(name: str) -> Path | None:
    """Load a library of CUDA ("nvrtc") by `cuda.pathfinder`, and return its file, or None if there is none."""
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib

        path = load_nvidia_dynamic_lib(name).abs_path
    except (ImportError, RuntimeError):  # pathfinder's DynamicLibNotFoundError is a RuntimeError
        return None
    return Path(path) if path else None


def library_version(name: str, path: Path) -> str | None:
    """Return the version that a library reports ("13.0"), or None; `name` is "NVRTC" or "nvJitLink"."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    try:
        function = getattr(ctypes.CDLL(str(path)), {"NVRTC": "nvrtcVersion", "nvJitLink": "nvJitLinkVersion"}[name])
    except (OSError, AttributeError):
        return None
    return f"{major.value}.{minor.value}" if function(ctypes.byref(major), ctypes.byref(minor)) == 0 else None


def distributions(*names: str) -> dict[str, str]:
    """Return the versions of those distributions that are installed, by name."""
    versions = {}
    for name in names:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions
