"""Finds the CUDA toolchain: which nvcc, headers, host compiler and GPU this machine has, and which one is taken.

Where several toolkits are installed the preference is: the wheels of this Python environment, the conda environment,
`CUDA_PATH`, `CUDA_HOME`, `/usr/local/cuda`, then the `nvcc` on PATH. `fourways.inventory` lists it all with
versions, `fourways.judging` judges whether it fits together.
"""

import functools
import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from fourways.devices import Driver, Gpu, cuda_version, driver, gpus

__all__ = [
    "Driver",
    "Gpu",
    "Root",
    "activate",
    "cuda_root",
    "cuda_version",
    "driver",
    "environment",
    "gpus",
    "host_compiler",
    "include_dirs",
    "missing",
    "nvcc",
    "program",
    "roots",
]

SYSTEM_ROOT = Path("/usr/local/cuda")
TARGET = f"targets/{'sbsa' if platform.machine() == 'aarch64' else platform.machine()}-linux"
SETUP = "make setup"
NO_DRIVER = "no NVIDIA driver: this way runs on a machine with an NVIDIA GPU"


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
    """Every program `name` of the toolkits, best first; where they have none, the one on PATH."""
    found = [path for path in in_roots(f"bin/{name}") if os.access(path, os.X_OK)]
    on_path = shutil.which(name)
    return found or ([Path(on_path)] if on_path else [])


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


def environment() -> dict[str, str]:
    """The variables that make CuPy, PyCUDA, CMake and a shell find the same toolkit; empty where there is none."""
    compiler = nvcc()
    if compiler is None:
        return {}
    root, bin_folder = compiler.parents[1], str(compiler.parent)
    path = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder != bin_folder]
    variables = {"PATH": os.pathsep.join([bin_folder, *path]), "CUDA_PATH": str(root), "CUDA_HOME": str(root)}
    variables["CUDACXX"] = str(compiler)
    if " " not in str(compiler):  # CuPy splits NVCC at blanks
        variables["NVCC"] = str(compiler)
    if not (root / "lib64").is_dir() and not (root / "targets").is_dir():  # wheels: nvcc does not link from their lib/
        libraries = [folder for folder in os.environ.get("LIBRARY_PATH", "").split(os.pathsep) if folder]
        variables["LIBRARY_PATH"] = os.pathsep.join(dict.fromkeys([str(root / "lib"), *libraries]))
    host = host_compiler()
    if host and (os.environ.get("CXX") or not shutil.which("gcc")):  # nvcc takes gcc unless told otherwise
        variables["NVCC_CCBIN"] = os.environ.get("NVCC_CCBIN", str(host))
    return variables


def activate() -> None:
    """Puts the chosen toolkit first for this process and its children. Call it before CuPy or PyCUDA compile."""
    os.environ.update(environment())


def missing(way: str) -> str | None:
    """None if `way` can run here; else one line: what is missing and what mends it.

    Ways: nvrtc, nvcc, pycuda, pybind11, host, and "gpu" for any cell that needs one. Raises ValueError for others.
    """
    needs = {
        "gpu": ("gpu",),
        "nvrtc": ("gpu", "cupy"),
        "nvcc": ("gpu", "cupy", "nvcc", "host compiler"),
        "pycuda": ("gpu", "pycuda", "nvcc", "host compiler"),
        "pybind11": ("gpu", "cupy", "fourways_aot"),
        "host": ("host compiler",),
    }
    if way not in needs:
        raise ValueError(f"no way {way!r}; there are: {', '.join(needs)}")
    return next((complaint for need in needs[way] if (complaint := _complaint(need))), None)


def _complaint(need: str) -> str | None:
    if need == "gpu":
        found = driver()
        if found is None:
            return NO_DRIVER
        reason = found.problem or "CUDA_VISIBLE_DEVICES may hide it"
        return None if gpus() else f"the NVIDIA driver shows no GPU ({reason}): `nvidia-smi` tells more"
    if need == "nvcc":
        return None if nvcc() else f"no nvcc found: {SETUP}"
    if need == "host compiler":
        return None if host_compiler() else "no C++ compiler found: install g++ (on Debian and Ubuntu: apt install g++)"
    if installed(need):
        return None
    return {
        "cupy": f"CuPy is not installed: {SETUP}",
        "pycuda": "PyCUDA is not installed: fourways install-pycuda",
        "fourways_aot": f"the pybind11 module fourways_aot is not built: {SETUP}",
    }[need]


def installed(module: str) -> Path | None:
    """The file of a top-level module that could be imported, or None. Imports nothing."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec and spec.origin else None
