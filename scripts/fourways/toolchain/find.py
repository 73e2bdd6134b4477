"""The search for programs, headers and libraries in the CUDA toolkits of this machine.

Toolkits are searched in this order: the wheels of this Python environment, the conda environment, `CUDA_PATH`,
`CUDA_HOME`, `/usr/local/cuda`, then the `nvcc` on PATH. `cuda.pathfinder` finds libraries for us, but not programs and
headers: it looks neither into PYTHONPATH, where a wheelhouse is, nor into PATH, so it would name another toolkit.
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
from pathlib import Path

from fourways import kernels

SYSTEM_ROOT = Path("/usr/local/cuda")
TARGET = f"targets/{'sbsa' if platform.machine() == 'aarch64' else platform.machine()}-linux"


def roots() -> dict[Path, str]:
    """Return all toolkit folders, the preferred one first, each with what named it, in words ("CUDA_PATH")."""
    conda = os.environ.get("CONDA_PREFIX")
    if not conda and Path(sys.prefix, "conda-meta").is_dir():
        conda = sys.prefix  # the interpreter of a conda environment that is not activated
    packages = [Path(entry, "nvidia") for entry in sys.path]
    wheels = [wheel for folder in packages for wheel in sorted(folder.glob("cu[0-9][0-9]"), reverse=True)]
    named = [(str(wheel), "this environment's wheels") for wheel in wheels]
    named += [(conda, "the conda environment")] if conda else []
    named += [(os.environ[name], name) for name in ("CUDA_PATH", "CUDA_HOME") if os.environ.get(name)]
    named += [(str(SYSTEM_ROOT), str(SYSTEM_ROOT))]
    compilers = [(Path(folder, "bin", "nvcc"), origin) for folder, origin in named]
    if on_path := shutil.which("nvcc"):
        compilers.append((Path(on_path), "the nvcc on PATH"))
    origins = {_root_of(compiler): origin for compiler, origin in reversed(compilers)}
    folders = _unique(_root_of(compiler) for compiler, _ in compilers)
    return {folder: origins[folder] for folder in folders if folder.is_dir()}


@functools.cache
def _root_of(compiler: Path) -> Path:
    """Return the toolkit folder of an nvcc: the folder above its bin/, unless the nvcc is a wrapper for another one.

    A real nvcc has nvcc.profile beside it. A wrapper is run with `--dryrun`, which prints `#$ TOP=<root>`.
    """
    if not compiler.is_file() or compiler.with_name("nvcc.profile").is_file():
        return compiler.parents[1]
    printed = run(str(compiler), "--dryrun", "-E", "-x", "cu", os.devnull).stderr
    top = re.search(r"^#\$ TOP=(.+)$", printed, re.MULTILINE)
    return Path(top[1].strip()).resolve() if top else compiler.resolve().parents[1]


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command for at most 60 s and return the completed process; its code is 127 if the command cannot be run."""
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, errors="replace")
    except (OSError, subprocess.TimeoutExpired) as problem:
        return subprocess.CompletedProcess(command, 127, "", str(problem))


def in_roots(*patterns: str) -> list[Path]:
    """Return every file in the toolkit folders that matches one of the patterns, the preferred toolkit first."""
    return _unique(path for root in roots() for pattern in patterns for path in sorted(root.glob(pattern)))


def _unique(paths: Iterable[Path]) -> list[Path]:
    unique: dict[Path, Path] = {}
    for path in paths:
        unique.setdefault(path.resolve(), path)
    return list(unique.values())


def program(name: str) -> Path | None:
    """Return the program `name` of the preferred toolkit that has it, else the one on PATH, or None."""
    in_toolkits = (path for path in in_roots(f"bin/{name}") if os.access(path, os.X_OK))
    path = next(in_toolkits, None) or shutil.which(name)
    return Path(path) if path else None


def nvcc() -> Path | None:
    """Return the nvcc that every way uses here, or None."""
    return program("nvcc")


def header_dir(marker: str, *beside: str) -> Path | None:
    """Return the include folder of the preferred toolkit that holds the header `marker` and those `beside` it, or None.

    Some folders hold only a part of CUDA's headers, so several are named.
    """
    patterns = [f"{base}/{sub}{marker}" for base in ("include", f"{TARGET}/include") for sub in ("cccl/", "")]
    folders = (path.parents[marker.count("/")] for path in in_roots(*patterns))
    return next((folder for folder in folders if all((folder / name).is_file() for name in beside)), None)


def cuda_headers() -> Path | None:
    """Return the folder that holds all of CUDA's headers, or None.

    The runtime's wheel, which PyTorch installs, has no crt/, and nvcc's wheel has nothing but crt/.
    """
    return header_dir("cuda_runtime.h", "vector_types.h", "cuda_fp16.h", "crt/host_defines.h", "crt/host_config.h")


def include_dirs() -> list[Path]:
    """Return the folders of the CUDA headers and of CCCL (CUB, Thrust, libcu++), for a compiler's option -I."""
    return list(dict.fromkeys(filter(None, (cuda_headers(), header_dir("cub/version.cuh")))))


def host_compiler() -> Path | None:
    """Return the C++ compiler that builds the host way and that nvcc calls, or None.

    The order is `CXX`, the conda environment's, g++, c++, clang++. Raises InputError if `CXX` names none.
    """
    named = os.environ.get("CXX", "")
    try:
        words = [word for word in shlex.split(named) if word not in ("ccache", "sccache")]
    except ValueError as error:
        raise kernels.InputError(f"CXX is {named!r} ({error}): unset CXX, or give a C++ compiler's path") from None
    if words and not shutil.which(words[0]):
        raise kernels.InputError(f"CXX names a C++ compiler that is not here, {named}: unset CXX, or give its path")
    conda = in_roots("bin/*-conda-linux-gnu-c++")
    paths = map(shutil.which, [*words[:1], *map(str, conda), "g++", "c++", "clang++"])
    return next((Path(path) for path in paths if path), None)
