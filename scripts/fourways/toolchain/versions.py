"""Which version something has: a program, a library, a header, an installed distribution."""

import ctypes
import functools
import importlib.metadata
import re
from pathlib import Path

from packaging.version import Version

from fourways.toolchain.driver import cuda_version
from fourways.toolchain.find import run

CUPY = ("cupy-cuda13x", "cupy-cuda12x", "cupy")
"""The distributions of CuPy, of which an environment may have one."""


def version(text: str | None) -> Version:
    """Major and minor, to compare: "13.0.88" is 13.0. What says nothing is 0."""
    return Version(".".join((text or "0").split(".")[:2]))


@functools.cache
def program_version(path: Path) -> str | None:
    """What a program prints for `--version`: nvcc's "V13.0.88" is "13.0.88", g++'s is "12.2.0"."""
    printed = run(str(path), "--version").stdout
    found = re.search(r"\bV(\d+\.\d+\.\d+)", printed) or re.search(r"(\d+\.\d+(?:\.\d+)*)", printed)
    return found[1] if found else None


def header_version(header: Path) -> str | None:
    """CUDART_VERSION 13000 is "13.0", CCCL_VERSION 3000001 is "3.0.1"."""
    text = header.read_text(errors="replace") if header.is_file() else ""
    if found := re.search(r"#define\s+CUDART_VERSION\s+(\d+)", text):
        return cuda_version(int(found[1]))
    if found := re.search(r"#define\s+CCCL_VERSION\s+(\d+)", text):
        number = int(found[1])
        return f"{number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}"
    return None


def loaded_library(name: str) -> Path | None:
    """The file that `cuda.pathfinder` loads for a library of CUDA ("nvrtc"), or None. Loads it."""
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


def distributions(*names: str) -> dict[str, str]:
    """The installed ones of these distributions, with their versions."""
    found = {}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
