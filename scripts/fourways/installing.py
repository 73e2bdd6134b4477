"""Installs what no index has ready: PyCUDA, built from source, and a folder of wheels for a machine without network."""

import fnmatch
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path

from fourways import kernels, toolchain
from fourways.interpreters import InstallError, find_python, pip, run

PYCUDA = "2026.1"
"""The version of PyCUDA, which pyproject.toml names too; a test holds the two together."""

PYCUDA_SHA256 = "759516160628ba06f32ce7e563e3f5b9214691dc9528a03ea99ea1073f4e14ba"
"""The hash of that version's source distribution; PyCUDA has no wheels."""

DESK_TOOLS = frozenset({"mypy", "ruff", "selenium"})
"""Packages of the extra `test` that no lesson and no test on a GPU uses."""

Lock = dict[str, list[tuple[str, set[str]]]]
"""A requirements.lock by package name: the text of each entry, and the packages that want it."""

_PROBE = """
import ctypes, importlib.metadata, sys
version = importlib.metadata.version("pycuda")
if version != sys.argv[1]:
    raise SystemExit(f"version {version} is installed")
import pycuda.compiler
try:
    ctypes.CDLL("libcuda.so.1")
except OSError:
    pass  # no driver here, and without one pycuda.driver does not import
else:
    import pycuda.driver
"""


def install_pycuda(python: str | Path = sys.executable, log: Callable[[str], None] = print) -> None:
    """Build PyCUDA and install it in the environment of the interpreter `python`, then import it there.

    Only says so where the right version is there and imports. Needs nvcc, CUDA's headers and a C++ compiler, but no
    driver. Raises InstallError.
    """
    problem = pycuda_problem(python)
    if problem is None:
        log(f"PyCUDA {PYCUDA} is already installed")
        return
    log(f"PyCUDA {problem}: building {PYCUDA} from source, which takes some minutes")
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fourways-") as work:
        wheel = str(build_pycuda(python, Path(work)))
        run(pip(python, "install", "--no-deps", "--force-reinstall", wheel), "installing PyCUDA")
        run(pip(python, "install", wheel), "installing what PyCUDA needs")  # only what is not there yet
    if problem := pycuda_problem(python):
        raise InstallError(f"PyCUDA {PYCUDA} was built and installed, but {problem}")
    log(f"PyCUDA {PYCUDA} built and installed in {time.monotonic() - start:.0f} s")


def pycuda_problem(python: str | Path = sys.executable) -> str | None:
    """None if `python` imports the right PyCUDA (its driver module too where there is a driver), else why not."""
    done = subprocess.run([str(python), "-c", _PROBE, PYCUDA], capture_output=True, text=True, errors="replace")
    reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    if done.returncode == 0:
        return None
    if "PackageNotFoundError" in reason:
        return "is not installed"
    return reason if reason.startswith("version ") else f"does not import: {reason}"


def build_pycuda(python: str | Path, folder: Path) -> Path:
    """Build PyCUDA's wheel for the interpreter `python` into `folder`; returns its path. Raises InstallError."""
    with tempfile.TemporaryDirectory(prefix="fourways-") as work:
        pinned = Path(work, "pycuda.txt")
        pinned.write_text(f"pycuda=={PYCUDA} --hash=sha256:{PYCUDA_SHA256}\n", encoding="utf-8")
        # No cache: pip keeps the wheels it has built, and one built without our variables would not run.
        options = ["--verbose", "--no-cache-dir", "--no-deps", "--no-binary", "pycuda", "--require-hashes"]
        command = pip(python, "wheel", *options, "-r", str(pinned), "-w", str(folder))
        run(command, f"building PyCUDA {PYCUDA}", build_variables(Path(work)))
    return next(folder.glob("pycuda-*.whl"))


def build_variables(work: Path) -> dict[str, str]:
    """The environment in which PyCUDA's own build finds all it needs; puts the libraries to link with into `work`.

    Its setup.py takes the toolkit whose nvcc is first on PATH and links libcuda.so and libcurand.so by these names.
    A machine without driver has no libcuda.so, and the wheels hold libcurand.so.10 only. So `work` gets a
    libcurand.so, and a libcuda.so that is empty but bears the driver's soname: a link asks for no more.
    Raises InstallError that names what is missing.
    """
    compiler, nvcc = toolchain.host_compiler(), toolchain.nvcc()
    if compiler is None:
        raise InstallError(f"PyCUDA cannot be built: {toolchain.missing('host')}")
    places = (f"{folder}/libcurand.so*" for folder in ("lib64", "lib", f"{toolchain.TARGET}/lib"))
    found = {name: toolchain.header_dirs(name, "")[:1] for name in ("cuda.h", "cudaProfiler.h", "curand.h")}
    headers = dict.fromkeys(str(folder) for folders in found.values() for folder in folders)
    found |= {"nvcc": [nvcc] if nvcc else [], "libcurand.so": toolchain.in_roots(*places)}
    if absent := [name for name, paths in found.items() if not paths]:
        looked = ", ".join(str(root.folder) for root in toolchain.roots()) or "no CUDA toolkit found"
        raise InstallError(
            f"PyCUDA cannot be built: {', '.join(absent)} not found ({looked}); "
            "`pip install 'cuda-toolkit[nvcc,cudart,profiler,curand]==13.0.*'` brings them"
        )
    (work / "libcurand.so").symlink_to(found["libcurand.so"][0])
    stub = [str(compiler), "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-x", "c++", os.devnull]
    run([*stub, "-o", str(work / "libcuda.so")], "linking a stand-in for the driver's library")
    variables = os.environ | toolchain.environment()
    # --no-as-needed: the stand-in is empty, a linker that drops what nothing uses would drop it, and PyCUDA would
    # not load the driver. The run path finds libcurand.so.10 wherever the wheel is installed beside NVIDIA's, else
    # in the system's toolkit; LD_LIBRARY_PATH goes before both, the folders of ldconfig after.
    rpath = "$ORIGIN/../nvidia/cu13/lib:/usr/local/cuda/lib64"
    return variables | {
        "CXX": os.environ.get("CXX", str(compiler)),
        "CPLUS_INCLUDE_PATH": _joined(os.pathsep, *headers, variables.get("CPLUS_INCLUDE_PATH")),
        "LIBRARY_PATH": _joined(os.pathsep, str(work), variables.get("LIBRARY_PATH")),
        "LDFLAGS": _joined(" ", variables.get("LDFLAGS"), f"-Wl,--no-as-needed,--strip-debug,-rpath,{rpath}"),
    }


def wheelhouse(
    folder: str | Path, python: str = "3.12", have: Iterable[str] = (), log: Callable[[str], None] = print
) -> list[Path]:
    """Gather in `folder` the wheels that lessons, book and GPU tests need without network; returns their paths.

    `python` is that machine's Python version, or the path of an interpreter of that version here; the machine must
    have the same processor and a C library at least as new. `have` names what it has already, a package an entry
    (`numpy`, `numpy==2.5.2` as `pip freeze` prints it, or a pattern such as `nvidia-*`): these are left out. PyCUDA is
    built here; the rest comes in the versions and with the hashes of requirements.lock, one version of each.
    `folder` must be empty or not exist, and is written whole or not at all. Raises InstallError.

    There: `python3 -m pip install --no-index --no-deps FOLDER/*.whl`.
    """
    folder = Path(folder).absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InstallError(f"{folder} is there already and not empty: remove it, or name another folder")
    interpreter = find_python(python)
    lock = read_lock((kernels.root() / "requirements.lock").read_text(encoding="utf-8"))
    direct = direct_dependencies() - DESK_TOOLS
    left_out = [_name(entry) for entry in have]
    carried = {name for name in needed(lock, direct) if not any(fnmatch.fnmatch(name, each) for each in left_out)}
    log(f"gathering wheels for {interpreter}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as work:
        house, wanted = Path(work, "wheels"), Path(work, "wanted.txt")
        house.mkdir()
        wanted.write_text("".join(text for name in sorted(carried) for text, _ in lock.get(name, [])), encoding="utf-8")
        if wanted.stat().st_size:
            options = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", str(wanted)]
            run(pip(interpreter, "download", *options, "-d", str(house)), "downloading wheels")
        if "pycuda" in carried:
            log(f"building PyCUDA {PYCUDA} from source, which takes some minutes")
            build_pycuda(interpreter, house)
        gathered = {_name(path.name.split("-")[0]) for path in house.glob("*.whl")}
        if absent := sorted(direct & carried - gathered):
            raise InstallError(f"requirements.lock holds nothing for Python {python} of: {', '.join(absent)}")
        house.replace(folder)
    wheels = sorted(folder.glob("*.whl"))
    log(f"{len(wheels)} wheels, {sum(path.stat().st_size for path in wheels) / 2**20:.1f} MiB, in {folder}")
    return wheels


def direct_dependencies() -> set[str]:
    """The packages that pyproject.toml itself names for lessons, book and tests, PyCUDA among them."""
    project = tomllib.loads((kernels.root() / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    return {_name(entry) for part in (project["dependencies"], *extras.values()) for entry in part}


def read_lock(text: str) -> Lock:
    """The entries of a requirements.lock; a package has several where its version depends on Python's."""
    lock: Lock = {}
    for entry in re.split(r"^(?=\w)", text, flags=re.MULTILINE):
        if "==" in entry:
            wanted_by = re.findall(r"^ +#(?: via|  ) ([\w.-]+)", entry, flags=re.MULTILINE)
            lock.setdefault(_name(entry), []).append((entry, {_name(each) for each in wanted_by}))
    return lock


def needed(lock: Lock, direct: Iterable[str]) -> set[str]:
    """`direct` and all that they need in turn, by the lock's notes of who wants what."""
    found: set[str] = set()
    new = set(direct)
    while new:
        found |= new
        new = {name for name, entries in lock.items() if any(by & found for _, by in entries)} - found
    return found


def _name(requirement: str) -> str:
    """The package's name or pattern at the start of a requirement, as indexes compare names."""
    name = re.match(r"[\w.*?-]*", requirement.strip())
    return re.sub(r"[-_.]+", "-", name[0] if name else "").lower()


def _joined(separator: str, *parts: str | None) -> str:
    return separator.join(part for part in parts if part)
