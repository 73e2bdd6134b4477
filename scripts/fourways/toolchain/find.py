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
from dataclasses import dataclass
from pathlib import Path

SYSTEM_ROOT = Path("/usr/local/cuda")
NVIDIA_PACKAGES = Path("/opt/nvidia")
"""Where NVIDIA's own packages of its profilers lie."""

TARGET = f"targets/{'sbsa' if platform.machine() == 'aarch64' else platform.machine()}-linux"


_PROFILERS = {"ncu": "nsight-compute/*/ncu", "nsys": "nsight-systems/*/bin/nsys"}


@dataclass(frozen=True)
class Root:
    """A folder that holds a CUDA toolkit, or a part of one, and where we heard of it."""

    folder: Path
    origin: str


def roots() -> tuple[Root, ...]:
    """All toolkit folders, best first, none twice."""
    names = ("CONDA_PREFIX", "CUDA_PATH", "CUDA_HOME", "PATH")
    return _roots(tuple(sys.path), tuple(os.environ.get(name, "") for name in names), SYSTEM_ROOT)


@functools.lru_cache(maxsize=8)
def _roots(search_path: tuple[str, ...], variables: tuple[str, ...], system: Path) -> tuple[Root, ...]:
    conda, cuda_path, cuda_home, path = variables
    if not conda and Path(sys.prefix, "conda-meta").is_dir():
        conda = sys.prefix  # the interpreter of a conda environment that nobody activated
    wheels = [
        folder for entry in search_path for folder in sorted(Path(entry, "nvidia").glob("cu[0-9][0-9]"), reverse=True)
    ]
    named = [Root(folder, "wheels") for folder in wheels]
    named += [Root(Path(conda), "conda")] if conda else []
    named += [Root(Path(cuda_path), "CUDA_PATH")] if cuda_path else []
    named += [Root(Path(cuda_home), "CUDA_HOME")] if cuda_home else []
    named += [Root(system, str(system))]
    named = [Root(_root_of(root.folder / "bin" / "nvcc"), root.origin) for root in named]
    on_path = shutil.which("nvcc", path=path)
    named += [Root(_root_of(Path(on_path)), "PATH")] if on_path else []
    unique: dict[Path, Root] = {}
    for root in named:
        if root.folder.is_dir():
            unique.setdefault(root.folder.resolve(), root)
    return tuple(unique.values())


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
    found = [path for root in roots() for pattern in patterns for path in sorted(root.folder.glob(pattern))]
    return list({path.resolve(): path for path in reversed(found)}.values())[::-1]


def programs(name: str) -> list[Path]:
    """Every program `name` of the toolkits, best first; where they have none, the one on PATH, or a profiler's own."""
    found = [path for path in in_roots(f"bin/{name}") if os.access(path, os.X_OK)]
    on_path = shutil.which(name)
    packaged = sorted(NVIDIA_PACKAGES.glob(_PROFILERS[name]), reverse=True) if name in _PROFILERS else []
    return found or ([Path(on_path)] if on_path else packaged)


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


def include_dirs() -> list[Path]:
    """The folders of the CUDA headers and of CCCL (CUB, Thrust, libcu++), as a compiler's -I wants them."""
    # crt/: without it (wheels of the runtime alone) a folder has cuda_runtime.h, which cannot be compiled
    folders = header_dirs("crt/host_defines.h", "")[:1] + header_dirs("cub/version.cuh", "cccl/", "")[:1]
    return list(dict.fromkeys(folders))


def host_compilers() -> list[Path]:
    """The C++ compilers, best first: `CXX`, the conda environment's, g++, c++, clang++."""
    words = [word for word in shlex.split(os.environ.get("CXX", "")) if word not in ("ccache", "sccache")]
    conda = in_roots("bin/*-conda-linux-gnu-c++")
    found = [shutil.which(name) for name in [*words[:1], *map(str, conda), "g++", "c++", "clang++"]]
    return list({Path(path).resolve(): Path(path) for path in reversed(found) if path}.values())[::-1]


def host_compiler() -> Path | None:
    """The C++ compiler that builds the host way and serves nvcc, or None."""
    return next(iter(host_compilers()), None)
