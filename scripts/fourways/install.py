"""PyCUDA built from source, as it has no wheels, and a wheelhouse: a folder of wheels for a machine without network."""

import importlib.metadata
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatch
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import Version
from rich.console import Console
from uv import find_uv_bin

from fourways import kernels, toolchain

PYCUDA = "2026.1"
"""The version of PyCUDA. pyproject.toml names it too, and a test compares the two."""

PYCUDA_SHA256 = "759516160628ba06f32ce7e563e3f5b9214691dc9528a03ea99ea1073f4e14ba"
"""The hash of that version's source distribution."""

SERVES_ALL = Version("23.2.1")
"""The oldest pip that we tried and that works for every Python from 3.11 to 3.14."""

DESK_TOOLS = ("import-linter", "mypy", "ruff", "selenium")
"""The packages of the extra `test` that no lesson and no GPU test uses."""

_PROBE = """
import ctypes, importlib.metadata, sys
version = importlib.metadata.version("pycuda")
if version != sys.argv[1]:
    raise SystemExit(f"version {version} is installed")
import pycuda.compiler
try:
    ctypes.CDLL("libcuda.so.1")
except OSError:
    pass  # pycuda.driver cannot be imported without a driver
else:
    import pycuda.driver
"""
_ABOUT = """
import pathlib, sys, sysconfig
print("%d.%d" % sys.version_info[:2], pathlib.Path(sysconfig.get_path("include"), "Python.h").is_file())
"""


class InstallError(RuntimeError):
    """A build or an installation failed. The message says what failed, why, and what to do."""


def install_pycuda(log: Callable[[str], None] = print) -> None:
    """Install requirements-gpu.lock in this environment, build PyCUDA and install it, and import it in a fresh process.

    Builds nothing if the right version can be imported. Needs nvcc, CUDA's headers, C++ compiler; raises InstallError.
    """
    problem = pycuda_problem()
    try:
        install_for_gpu()
    except InstallError as error:
        if problem:
            raise
        log(str(error))  # PyCUDA serves all lessons, and this machine may have no network
    if problem is None:
        log(f"PyCUDA {PYCUDA} is already installed")
        return
    log(f"PyCUDA {problem}: building {PYCUDA} from source: one to two minutes")
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fourways-") as work:
        wheel = str(build_pycuda(sys.executable, Path(work)))
        run(pip(sys.executable, "install", "--no-deps", "--force-reinstall", wheel), "installing PyCUDA")
    if problem := pycuda_problem():
        raise InstallError(f"PyCUDA {PYCUDA} was built and installed, but {problem}")
    log(f"PyCUDA {PYCUDA} built and installed in {time.monotonic() - start:.0f} s")


def install_for_gpu() -> None:
    """Install requirements-gpu.lock in this environment: what PyCUDA's build and the profilers need."""
    options = ["--no-deps", "--require-hashes", "-r", f"{kernels.root()}/requirements-gpu.lock"]
    run(pip(sys.executable, "install", *options), "installing what PyCUDA and the profilers need")


def pycuda_problem() -> str | None:
    """Return why this Python cannot import the right PyCUDA, or None. Imports pycuda.driver if there is a driver."""
    done = toolchain.run(sys.executable, "-c", _PROBE, PYCUDA)
    reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    if done.returncode == 0:
        return None
    if "PackageNotFoundError" in reason:
        return "is not installed"
    return reason if reason.startswith("version ") else f"does not import: {reason}"


def build_pycuda(python: str | Path, folder: Path) -> Path:
    """Build PyCUDA's wheel for the interpreter `python` in `folder`, and return its path. Raises InstallError."""
    with tempfile.TemporaryDirectory(prefix="fourways-") as work:
        pinned = Path(work, "pycuda.txt")
        pinned.write_text(f"pycuda=={PYCUDA} --hash=sha256:{PYCUDA_SHA256}\n", encoding="utf-8")
        # no cache: pip keeps the wheels that it has built, and one built without our variables would not run
        options = ["--verbose", "--no-cache-dir", "--no-deps", "--no-binary", "pycuda", "--require-hashes"]
        command = pip(python, "wheel", *options, "-r", str(pinned), "-w", str(folder))
        run(command, f"building PyCUDA {PYCUDA}", build_variables(Path(work)))
    return next(folder.glob("pycuda-*.whl"))


def build_variables(work: Path) -> dict[str, str]:
    """Return the environment for PyCUDA's build, and put the libraries to link with into the folder `work`.

    PyCUDA's setup.py takes the toolkit whose nvcc is first on PATH, and links libcuda.so and libcurand.so by these
    names. A machine without a driver has no libcuda.so, and the wheels hold only libcurand.so.10. So `work` gets a
    link libcurand.so, and an empty libcuda.so with the driver's soname. Raises InstallError, naming what is missing.
    """
    compiler, nvcc = toolchain.host_compiler(), toolchain.nvcc()
    if compiler is None:
        raise InstallError(f"PyCUDA cannot be built: {toolchain.missing('host compiler')}")
    places = (f"{folder}/libcurand.so*" for folder in ("lib64", "lib", f"{toolchain.TARGET}/lib"))
    needed = {name: toolchain.header_dir(name) for name in ("cuda.h", "cudaProfiler.h", "curand.h")}
    headers = dict.fromkeys(map(str, needed.values()))
    needed |= {"nvcc": nvcc, "libcurand.so": next(iter(toolchain.in_roots(*places)), None)}
    if absent := [name for name, path in needed.items() if not path]:
        looked = ", ".join(map(str, toolchain.roots())) or "no CUDA toolkit found"
        raise InstallError(
            f"PyCUDA cannot be built: {', '.join(absent)} not found ({looked}); "
            "`pip install 'cuda-toolkit[nvcc,cudart,profiler,curand]==13.0.*'` brings them"
        )
    (work / "libcurand.so").symlink_to(str(needed["libcurand.so"]))
    stub = [str(compiler), "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-x", "c++", os.devnull]
    run([*stub, "-o", str(work / "libcuda.so")], "linking a stand-in for the driver's library")
    variables = os.environ | toolchain.variables()
    # --no-as-needed: some linkers drop unused libraries, and so the empty stand-in; PyCUDA would not load the driver.
    # The run path leads to libcurand.so.10 of NVIDIA's wheel beside PyCUDA's, else of the system's toolkit.
    # LD_LIBRARY_PATH goes before the run path, the folders of ldconfig come after it.
    rpath = "$ORIGIN/../nvidia/cu13/lib:/usr/local/cuda/lib64"
    return variables | {
        "CXX": os.environ.get("CXX", str(compiler)),
        "CPLUS_INCLUDE_PATH": os.pathsep.join(filter(None, [*headers, variables.get("CPLUS_INCLUDE_PATH")])),
        "LIBRARY_PATH": os.pathsep.join(filter(None, [str(work), variables.get("LIBRARY_PATH")])),
        "LDFLAGS": f"{variables.get('LDFLAGS', '')} -Wl,--no-as-needed,--strip-debug,-rpath,{rpath}",
    }


def wheelhouse(
    folder: str | Path, python: str = "3.12", have: Iterable[str] = (), log: Callable[[str], None] = print
) -> list[Path]:
    """Gather in `folder` the wheels that lessons, book and GPU tests need on another machine; return their paths.

    `python` is the Python version of that machine, or the path of an interpreter of that version here. That machine
    must have the same kind of processor, and a C library at least as new.
    `have` lists the packages that it has, one per entry: a line of `pip freeze`, or a pattern such as `nvidia-*`. The
    folder gets all other packages of the three locks, with their hashes checked, except DESK_TOOLS; PyCUDA is built
    here. A machine without nvcc gets CUDA's toolkit whole, because nvcc finds its headers only in its own folder.
    `folder` must be empty or missing, and is written whole or not at all. Raises InstallError.
    """
    folder = Path(folder).absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InstallError(f"{folder} is there already and not empty: remove it, or name another folder")
    interpreter, lock, patterns = find_python(python), read_locks(), [*map(_name, have), *DESK_TOOLS]

    def is_there(name: str) -> bool:
        return any(fnmatch(name, pattern) for pattern in patterns)

    of_cuda = "nvidia-*" if not is_there("nvidia-cuda-nvcc") else ""
    carried = [name for name in (*lock, "pycuda") if fnmatch(name, of_cuda) or not is_there(name)]
    wanted = "".join(entry for name in carried for entry in lock.get(name, ()))
    log(f"gathering wheels for {interpreter}: half a gigabyte if nothing is left out")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as work:
        gathering, listed = Path(work, "wheels"), Path(work, "wanted.txt")
        gathering.mkdir()
        listed.write_text(wanted, encoding="utf-8")
        options = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", str(listed)]
        if wanted:
            run(pip(interpreter, "download", *options, "-d", str(gathering)), "downloading wheels")
        if "pycuda" in carried:
            log(f"building PyCUDA {PYCUDA} from source: one to two minutes")
            if not toolchain.header_dir("curand.h"):
                install_for_gpu()
            build_pycuda(interpreter, gathering)
        gathering.replace(folder)
    wheels = sorted(folder.glob("*.whl"))
    log(f"{len(wheels)} wheels, {sum(path.stat().st_size for path in wheels) / 2**20:.1f} MiB, in {folder}")
    return wheels


def read_locks() -> dict[str, list[str]]:
    """Return the entries of all three locks by package: for all, for a GPU, for tests."""
    names = "requirements.lock", "requirements-gpu.lock", "requirements-test.lock"
    locks = [read_lock((kernels.root() / name).read_text(encoding="utf-8")) for name in names]
    return locks[2] | locks[1] | locks[0]


def read_lock(text: str) -> dict[str, list[str]]:
    """Return the entries of a requirements.lock by package: several if the version depends on Python's version."""
    lock: dict[str, list[str]] = {}
    for entry in re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]:
        lock.setdefault(_name(entry), []).append(entry)
    return lock


def _name(entry: str) -> str:
    """Return the name or pattern at the start of a line, normalised as on PyPI; "" for a comment."""
    return canonicalize_name(re.split(r"[\s=<>!~\[;@#]", entry.strip())[0])


def pip(python: str | Path, *arguments: str) -> list[str]:
    """Return the command that runs pip for the interpreter `python`, which may have no pip of its own.

    The pip is ours if it is new enough, else uv's. pip runs under that interpreter, and an old pip fails under a newer
    Python: Debian 12's 23.0.1 fails under 3.12, which has no `pkgutil.ImpImporter`.
    """
    ours = importlib.util.find_spec("pip") and Version(importlib.metadata.version("pip"))
    if ours and (ours >= SERVES_ALL or str(python) == sys.executable):
        return [sys.executable, "-m", "pip", "--python", str(python), *arguments]
    return [find_uv_bin(), "tool", "run", "--python", sys.executable, "pip", "--python", str(python), *arguments]


def find_python(wanted: str) -> Path:
    """Return the interpreter to build wheels with: the one that uv finds for a version ("3.12"), or at a path.

    It must have Python's C headers, which extension modules include. Raises InstallError, which says what is missing.
    """
    found = toolchain.run(find_uv_bin(), "python", "find", "--no-python-downloads", "--no-project", wanted)
    if found.returncode:
        raise InstallError(f"uv finds no Python {wanted} ({' '.join(found.stderr.split())}): give its path")
    path = Path(found.stdout.strip())
    version, has_headers = toolchain.run(path, "-c", _ABOUT).stdout.split()
    if has_headers == "False":
        raise InstallError(f"{path} has no Python.h (on Debian and Ubuntu: apt install python{version}-dev)")
    return path


def run(command: list[str], doing: str, environment: Mapping[str, str] | None = None) -> None:
    """Run a command. Raises InstallError with the lines that matter; the message names a file with all output."""
    environment = {"UV_SYSTEM_CERTS": "1"} | dict(environment or os.environ)  # recent pips use the system's by default
    with Console(stderr=True).status(doing):
        done = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace"
        )
    if done.returncode:
        lines = done.stdout.splitlines(keepends=True)
        with tempfile.NamedTemporaryFile("w", prefix="fourways-", suffix=".log", delete=False) as log:
            log.writelines(lines)
        telling = [line for line in lines if re.search(r"\berror\b", line, re.IGNORECASE)][:8] or lines[-8:]
        code = done.returncode
        raise InstallError(f"{doing} failed (exit code {code}; all of it: {log.name})\n{''.join(telling).rstrip()}")
