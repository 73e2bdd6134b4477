"""The stamp of a run: its device, versions, commit and date. It holds no path, no user name and no host name."""

import datetime
import os
import platform
import re
import subprocess
from pathlib import Path

from fourways import kernels
from fourways.toolchain.driver import driver, gpus
from fourways.toolchain.find import host_compiler, nvcc
from fourways.toolchain.versions import CUPY, distributions, library_version, loaded_library, program_version

PACKAGES = ("fourways", "numpy", *CUPY, "cuda-core", "cuda-bindings", "pycuda", "pybind11", "ipykernel", "matplotlib")
CUDA_WHEELS = ("nvidia-cuda-nvcc", "nvidia-cuda-nvrtc", "nvidia-nvjitlink", "nvidia-cuda-cccl")


def stamp() -> dict[str, object]:
    """Return all that a measured number depends on, as JSON values; None stands for a tool that is not installed.

    `device`, `compute_capability` and `memory_bytes` describe GPU 0; `devices` counts all GPUs. `clean` is False if
    tracked files differ from `commit`. `date` is UTC in ISO 8601, to the second.

    In a copy without `.git` the variable FOURWAYS_COMMIT can name the commit, as
    `git describe --always --abbrev=40 --exclude='*' --dirty` prints it: 7 to 64 hexadecimal digits, and `-dirty` if
    files differ. `clean` is then False with `-dirty`, else None (unknown). Any other text counts as not set.
    """
    told, devices = driver(), gpus()
    gpu = devices[0] if devices else None
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
        "packages": distributions(*PACKAGES, *CUDA_WHEELS),
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
    describe = ["git", "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"]
    clean: bool | None = None  # unknown
    try:
        done = subprocess.run(describe, cwd=kernels.root(), capture_output=True, text=True, check=True)
        told, clean = done.stdout.strip(), True
    except (OSError, subprocess.CalledProcessError):
        told = os.environ.get("FOURWAYS_COMMIT", "")
    match = re.fullmatch(r"([0-9a-f]{7,64})(-dirty)?", told)
    return (match[1], False if match[2] else clean) if match else (None, None)
