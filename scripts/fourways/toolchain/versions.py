"""Versions of programs, libraries, headers and packages, and the stamp of a run, which lists them."""

import ctypes
import datetime
import functools
import importlib.metadata
import os
import platform
import re
from pathlib import Path

from packaging.version import Version

from fourways import kernels
from fourways.toolchain.driver import cuda_version, driver, gpus
from fourways.toolchain.find import host_compiler, nvcc, run

CUPY = ("cupy-cuda13x", "cupy-cuda12x", "cupy")
"""The distributions of CuPy. An environment may have only one of them."""

_STAMPED = ("fourways", "numpy", *CUPY, "cuda-core", "cuda-bindings", "pycuda", "pybind11", "ipykernel", "matplotlib")
_CUDA_WHEELS = ("nvidia-cuda-nvcc", "nvidia-cuda-nvrtc", "nvidia-nvjitlink", "nvidia-cuda-cccl")


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
    """Return the version that a header of CUDA defines, or None: CUDART_VERSION 13000 is "13.0"."""
    text = header.read_text(errors="replace") if header.is_file() else ""
    match = re.search(r"#define\s+CUDART_VERSION\s+(\d+)", text)
    return cuda_version(int(match[1])) if match else None


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


def stamp() -> dict[str, object]:
    """Return all that a measured number depends on, as JSON values; None stands for a tool that is not installed.

    `device`, `compute_capability` and `memory_bytes` describe GPU 0; `devices` counts all GPUs. `clean` is False if
    tracked files differ from `commit`. `date` is UTC in ISO 8601, to the second.

    In a copy without `.git` the variable FOURWAYS_COMMIT can name the commit, as `git describe` does. `clean` is then
    False with `-dirty`, else None (unknown). A text that is no commit counts as not set.
    """
    told, devices = driver(), gpus()
    gpu = next(iter(devices), None)
    compiler, host, nvrtc = nvcc(), host_compiler(), loaded_library("nvrtc")
    commit, clean = _commit()
    return {
        "device": gpu.name if gpu else None,
        "compute_capability": gpu.compute_capability if gpu else None,
        "memory_bytes": gpu.memory_bytes if gpu else None,
        "devices": len(devices),
        "driver": told.version if told else None,
        "driver_cuda": told.cuda if told else None,
        "nvcc": program_version(compiler) if compiler else None,
        "nvrtc": library_version("NVRTC", nvrtc) if nvrtc else None,
        "host_compiler": f"{host.name} {program_version(host)}" if host else None,
        "python": platform.python_version(),
        "packages": distributions(*_STAMPED, *_CUDA_WHEELS),
        "os": _system(),
        "libc": " ".join(platform.libc_ver()).strip() or None,
        "cpu": _processor(),
        "commit": commit,
        "clean": clean,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def _system() -> str:
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        name = platform.system()
    return f"{name}, {platform.system()} {platform.machine()}"


def _processor() -> str | None:
    """Return the model name of the CPU. `platform.processor()` alone is empty on many Linux systems."""
    match = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(errors="replace"), re.MULTILINE)
    return match[1].strip() if match else platform.processor() or None


def _commit() -> tuple[str | None, bool | None]:
    """Return the clone's commit and whether its tracked files are unchanged; without git, from FOURWAYS_COMMIT."""
    done = run("git", "-C", kernels.root(), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty")
    told = os.environ.get("FOURWAYS_COMMIT", "") if done.returncode else done.stdout.strip()
    match = re.fullmatch(r"([0-9a-f]{7,64})(-dirty)?", told)
    clean = False if match and match[2] else None if done.returncode else True
    return (match[1], clean) if match else (None, None)
