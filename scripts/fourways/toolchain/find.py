"""Finds programs, headers and libraries in the CUDA toolkits of this machine, and says which toolkit is taken.

Where several toolkits are installed the preference is: the wheels of this Python environment, the conda environment,
`CUDA_PATH`, `CUDA_HOME`, `/usr/local/cuda`, then the `nvcc` on PATH.
"""

import functools
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

SYSTEM_ROOT = Path("/usr/local/cuda")
NVIDIA_PACKAGES = Path("/opt/nvidia")
"""Where NVIDIA's own packages of its profilers lie."""

_PROFILERS = {"ncu": "nsight-compute/*/ncu", "nsys": "nsight-systems/*/bin/nsys"}

TARGET = f"targets/{'sbsa' if platform.machine() == 'aarch64' else platform.machine()}-linux"


@dataclass(frozen=True)
class Root:
    """A folder that holds a CUDA toolkit, or a part of one, and in words where we heard of it."""

    folder: Path
    origin: str


def roots() -> tuple[Root, ...]:
    """All toolkit folders, best first, none twice."""
    conda = os.environ.get("CONDA_PREFIX")
    if not conda and Path(sys.prefix, "conda-meta").is_dir():
        conda = sys.prefix  # the interpreter of a conda environment that nobody activated
    packages = [Path(entry, "nvidia") for entry in sys.path]
    wheels = [wheel for folder in packages for wheel in sorted(folder.glob("cu[0-9][0-9]"), reverse=True)]
    named = [(str(wheel), "this environment's wheels") for wheel in wheels]
    named += [(conda, "the conda environment")] if conda else []
    named += [(os.environ[name], name) for name in ("CUDA_PATH", "CUDA_HOME") if os.environ.get(name)]
    named += [(str(SYSTEM_ROOT), str(SYSTEM_ROOT))]
    compilers = [(Path(folder, "bin", "nvcc"), origin) for folder, origin in named]
    if on_path := shutil.which("nvcc"):
        compilers.append((Path(on_path), "the nvcc on PATH"))
    unique: dict[Path, Root] = {}
    for compiler, origin in compilers:
        folder = _root_of(compiler)
        if folder.is_dir():
            unique.setdefault(folder.resolve(), Root(folder, origin))
    return tuple(unique.values())


@functools.cache
def _root_of(compiler: Path) -> Path:
    """The toolkit that an nvcc belongs to: the folder above its bin/, unless it is a wrapper of one elsewhere.

    A real nvcc has its nvcc.profile beside it; any other is asked by `--dryrun`, which prints `#$ TOP=<root>`.
    """
    if not compiler.is_file() or compiler.with_name("nvcc.profile").is_file():
        return compiler.parents[1]
    printed = run(str(compiler), "--dryrun", "-E", "-x", "cu", os.devnull).stderr
    top = re.search(r"^#\$ TOP=(.+)$", printed, re.MULTILINE)
    return Path(top[1].strip()).resolve() if top else compiler.resolve().parents[1]


def run(*command: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command and return what it printed; one that cannot be run has return code 127."""
    try:
        return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=60, errors="replace")
    except (OSError, subprocess.TimeoutExpired) as problem:
        return subprocess.CompletedProcess(command, 127, "", str(problem))


def in_roots(*patterns: str) -> list[Path]:
    """Every file that matches one of the patterns, best root first."""
    return _unique(path for root in roots() for pattern in patterns for path in sorted(root.folder.glob(pattern)))


def _unique(paths: Iterable[Path]) -> list[Path]:
    """Each file once, by the first of its names."""
    found: dict[Path, Path] = {}
    for path in paths:
        found.setdefault(path.resolve(), path)
    return list(found.values())


def programs(name: str) -> list[Path]:
    """Every program `name` of the toolkits, best first; where they have none, the one on PATH, or a profiler's own."""
    if found := [path for path in in_roots(f"bin/{name}") if os.access(path, os.X_OK)]:
        return found
    if on_path := shutil.which(name):
        return [Path(on_path)]
    packaged = NVIDIA_PACKAGES.glob(_PROFILERS[name]) if name in _PROFILERS else ()
    return sorted(packaged, key=lambda path: [int(number) for number in re.findall(r"\d+", str(path))], reverse=True)


def program(name: str) -> Path | None:
    """The best of `programs(name)`, or None."""
    return next(iter(programs(name)), None)


def nvcc() -> Path | None:
    """The nvcc that every way uses here, or None."""
    return program("nvcc")


def cuda_root() -> Path | None:
    """The toolkit folder of `nvcc()`, or None."""
    compiler = nvcc()
    return compiler.parents[1] if compiler else None


def header_dirs(marker: str, *below: str) -> list[Path]:
    """The folders, best first, that hold the header `marker`, under each root's include folders."""
    patterns = [f"{base}/{sub}{marker}" for base in ("include", f"{TARGET}/include") for sub in below]
    return [path.parents[marker.count("/")] for path in in_roots(*patterns)]


def cuda_header_dirs() -> list[Path]:
    """Return the folders that hold all of CUDA's headers, best first.

    A folder may hold only a part: the runtime's wheel, which PyTorch installs, has no crt/, and nvcc's wheels have
    crt/ alone.
    """
    whole = "cuda_runtime.h", "vector_types.h", "cuda_fp16.h", "crt/host_defines.h", "crt/host_config.h"
    return [folder for folder in header_dirs(whole[0], "") if all((folder / name).is_file() for name in whole)]


def include_dirs() -> list[Path]:
    """The folders of the CUDA headers and of CCCL (CUB, Thrust, libcu++), as a compiler's -I wants them."""
    folders = cuda_header_dirs()[:1] + header_dirs("cub/version.cuh", "cccl/", "")[:1]
    return list(dict.fromkeys(folders))


def host_compilers() -> list[Path]:
    """The C++ compilers, best first: `CXX`, the conda environment's, g++, c++, clang++."""
    words = [word for word in shlex.split(os.environ.get("CXX", "")) if word not in ("ccache", "sccache")]
    conda = in_roots("bin/*-conda-linux-gnu-c++")
    found = (shutil.which(name) for name in [*words[:1], *map(str, conda), "g++", "c++", "clang++"])
    return _unique(Path(path) for path in found if path)


def host_compiler() -> Path | None:
    """The C++ compiler that builds the host way and serves nvcc, or None."""
    return next(iter(host_compilers()), None)
