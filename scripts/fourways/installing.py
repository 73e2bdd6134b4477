"""Installs what no index has ready: PyCUDA, built from source, and a folder of wheels for a machine without network."""

import fnmatch
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from fourways import kernels, toolchain

PYCUDA = "2026.1"
PYCUDA_SHA256 = "759516160628ba06f32ce7e563e3f5b9214691dc9528a03ea99ea1073f4e14ba"
"""The source distribution of that version; pyproject.toml names the same one, and a test compares them."""

DESK_TOOLS = frozenset({"mypy", "ruff", "selenium"})
"""Packages of the extra `test` that no lesson and no test on a GPU uses."""

_PROBE = """
import ctypes, importlib.metadata, sys
version = importlib.metadata.version("pycuda")
if version != sys.argv[1]:
    raise SystemExit(f"version {version} is installed")
import pycuda.compiler
try:
    ctypes.CDLL("libcuda.so.1")
except OSError:
    pass  # no driver here, and pycuda.driver does not import without one
else:
    import pycuda.driver
"""

_INTERPRETER = """
import pathlib, sys, sysconfig
print("%d.%d" % sys.version_info[:2], pathlib.Path(sysconfig.get_path("include"), "Python.h").is_file())
"""


class InstallError(RuntimeError):
    """Something could not be built or installed. The message says what, why, and what to do."""


def install_pycuda(python: str | Path = sys.executable, log: Callable[[str], None] = print) -> None:
    """Build PyCUDA and install it in the environment of the interpreter `python`, then import it there.

    Does nothing but say so where the right version already imports. Needs nvcc, CUDA's headers and a C++ compiler,
    no driver. Raises InstallError.
    """
    problem = pycuda_problem(python)
    if problem is None:
        log(f"PyCUDA {PYCUDA} is already installed")
        return
    log(f"PyCUDA {problem}: building {PYCUDA} from source, which takes 1 to 2 minutes")
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fourways-") as work:
        wheel = build_pycuda(python, Path(work))
        pip = [*_pip(python), "install"]
        _run([*pip, "--no-deps", "--force-reinstall", str(wheel)], "installing PyCUDA")
        _run([*pip, str(wheel)], "installing what PyCUDA needs")  # only packages that are not there yet
    problem = pycuda_problem(python)
    if problem:
        raise InstallError(f"PyCUDA {PYCUDA} was built and installed, but does not work: {problem}")
    log(f"PyCUDA {PYCUDA} installed in {time.monotonic() - start:.0f} s")


def pycuda_problem(python: str | Path = sys.executable) -> str | None:
    """None if `python` imports the right PyCUDA (its driver module too where there is a driver), else why not."""
    done = subprocess.run([str(python), "-c", _PROBE, PYCUDA], capture_output=True, text=True)
    if done.returncode == 0:
        return None
    reason = (done.stderr.strip().splitlines() or [f"the import ended with exit code {done.returncode}"])[-1]
    return "is not installed" if "PackageNotFoundError" in reason else f"does not import: {reason}"


def build_pycuda(python: str | Path, folder: Path) -> Path:
    """Build PyCUDA's wheel for the interpreter `python` into `folder`; returns its path. Raises InstallError."""
    with tempfile.TemporaryDirectory(prefix="fourways-") as work:
        pinned = Path(work, "pycuda.txt")
        pinned.write_text(f"pycuda=={PYCUDA} --hash=sha256:{PYCUDA_SHA256}\n")
        # Without the cache: pip keeps wheels that it built, and one built without our variables would not run.
        options = ["--verbose", "--no-cache-dir", "--no-deps", "--no-binary", "pycuda", "--require-hashes"]
        command = [*_pip(python), "wheel", *options, "-r", str(pinned), "-w", str(folder)]
        _run(command, f"building PyCUDA {PYCUDA}", build_variables(Path(work)))
    return next(folder.glob("pycuda-*.whl"))


def build_variables(work: Path) -> dict[str, str]:
    """The environment in which PyCUDA's own build finds everything; writes the libraries to link with into `work`.

    Its setup.py takes the toolkit whose nvcc is first on PATH, and links libcuda.so and libcurand.so by these names.
    A machine without driver has no libcuda.so, and the wheels hold libcurand.so.10 only. So `work` gets an empty
    libcuda.so with the driver's soname, which is all that a link needs, and a libcurand.so. Raises InstallError.
    """
    compiler = toolchain.host_compiler()
    if compiler is None:
        raise InstallError(f"PyCUDA cannot be built: {toolchain.missing('host')}")
    libraries = (f"{folder}/libcurand.so*" for folder in ("lib64", "lib", f"{toolchain.TARGET}/lib"))
    parts = {
        "nvcc": [toolchain.nvcc()] if toolchain.nvcc() else [],
        "cuda.h": toolchain.header_dirs("cuda.h", ""),
        "cudaProfiler.h": toolchain.header_dirs("cudaProfiler.h", ""),
        "curand.h": toolchain.header_dirs("curand.h", ""),
        "libcurand.so": toolchain.in_roots(*libraries),
    }
    if absent := [name for name, found in parts.items() if not found]:
        raise InstallError(
            f"PyCUDA cannot be built: no {', '.join(absent)} in {_folders(toolchain.roots())}; "
            "`pip install 'cuda-toolkit[nvcc,cudart,profiler,curand]==13.0.*'` brings them"
        )
    (work / "libcurand.so").symlink_to(parts["libcurand.so"][0])
    stub = [str(compiler), "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-x", "c++", os.devnull]
    _run([*stub, "-o", str(work / "libcuda.so")], "linking a stand-in for the driver")
    variables = os.environ | toolchain.environment()
    headers = dict.fromkeys(str(parts[name][0]) for name in parts if name.endswith(".h"))
    # --no-as-needed: the stand-in is empty, so a linker that drops unneeded libraries would drop it, and the module
    # would not ask for the driver at all. The run path is where libcurand.so.10 lies at run time: beside PyCUDA in
    # site-packages, else in the system's toolkit; LD_LIBRARY_PATH comes before both, ldconfig's folders after.
    rpath = "$ORIGIN/../nvidia/cu13/lib:/usr/local/cuda/lib64"
    return variables | {
        "CXX": os.environ.get("CXX", str(compiler)),
        "CPLUS_INCLUDE_PATH": _joined(os.pathsep, *headers, variables.get("CPLUS_INCLUDE_PATH")),
        "LIBRARY_PATH": _joined(os.pathsep, str(work), variables.get("LIBRARY_PATH")),
        "LDFLAGS": _joined(" ", variables.get("LDFLAGS"), f"-Wl,--no-as-needed -Wl,-rpath,{rpath}"),
    }


def wheelhouse(
    folder: str | Path, python: str = "3.12", have: Iterable[str] = (), log: Callable[[str], None] = print
) -> list[Path]:
    """Gather in `folder` the wheels that lessons and GPU tests need on a machine without network; returns their paths.

    `python` is that machine's Python version, or the path of an interpreter of that version here; the machine must run
    the same processor and a C library at least as new as this one's. `have` names what it has already, one package an
    entry (`numpy`, `numpy==2.5.2` as `pip freeze` prints it, or a pattern such as `nvidia-*`): these are left out.
    PyCUDA is built here, the rest comes in the versions and with the hashes of requirements.lock, one version each.
    `folder` must be empty or not exist, and is written whole or not at all. Raises InstallError.

    There: `python3 -m pip install --no-index --no-deps FOLDER/*.whl`.
    """
    folder = Path(folder).absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InstallError(f"{folder} is there already and not empty: remove it, or name another folder")
    interpreter = find_python(python)
    lock = read_lock((kernels.root() / "requirements.lock").read_text(encoding="utf-8"))
    direct = direct_dependencies() - DESK_TOOLS
    patterns = [normal(re.split(r"[\s=<>!~;@\[#]", entry.strip())[0]) for entry in have]
    carried = {name for name in needed(lock, direct) if not any(fnmatch.fnmatch(name, each) for each in patterns)}
    log(f"{len(carried)} packages for {interpreter}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as work:
        house, wanted = Path(work, "wheels"), Path(work, "wanted.txt")
        house.mkdir()
        wanted.write_text("".join(text for name in sorted(carried) for text, _ in lock.get(name, [])))
        if wanted.stat().st_size:
            options = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", str(wanted)]
            _run([*_pip(interpreter), "download", *options, "-d", str(house)], "downloading wheels")
        if "pycuda" in carried:
            log(f"building PyCUDA {PYCUDA} from source, which takes 1 to 2 minutes")
            build_pycuda(interpreter, house)
        got = {normal(path.name.split("-")[0]) for path in house.glob("*.whl")}
        if absent := sorted(direct & carried - got):
            raise InstallError(f"requirements.lock has nothing for Python {python} of: {', '.join(absent)}")
        house.replace(folder)
    wheels = sorted(folder.glob("*.whl"))
    log(f"{len(wheels)} wheels, {sum(path.stat().st_size for path in wheels) / 2**20:.1f} MiB, in {folder}")
    return wheels


def direct_dependencies() -> set[str]:
    """The packages that pyproject.toml names itself for lessons and tests, PyCUDA among them."""
    project = tomllib.loads((kernels.root() / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    entries = [*project["dependencies"], *extras["pycuda"], *extras["test"]]
    return {normal(re.split(r"[\s=<>!~;\[]", entry)[0]) for entry in entries}


def read_lock(text: str) -> dict[str, list[tuple[str, set[str]]]]:
    """The entries of a requirements.lock by name: (text with hashes, names of the packages that want it).

    A package has more than one entry where its version depends on the Python version.
    """
    entries: dict[str, list[tuple[str, set[str]]]] = {}
    for block in re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE | re.IGNORECASE):
        if name := re.match(r"[\w.-]+(?===)", block):
            wanted_by = re.findall(r"^ +#(?: via|  ) ([\w.-]+)", block, flags=re.MULTILINE)
            entries.setdefault(normal(name[0]), []).append((block, {normal(each) for each in wanted_by}))
    return entries


def needed(lock: Mapping[str, list[tuple[str, set[str]]]], direct: Iterable[str]) -> set[str]:
    """`direct` and all that they need in turn, by the lock's notes of who wants what."""
    found, grown = set(direct), True
    while grown:
        new = {name for name, entries in lock.items() if any(wanted_by & found for _, wanted_by in entries)} - found
        found, grown = found | new, bool(new)
    return found


def find_python(wanted: str) -> Path:
    """An interpreter that builds for Python `wanted` ("3.12", or a path): this one, on PATH, uv's, pyenv's.

    It must have the C headers, which PyCUDA's build includes. Raises InstallError that says where was looked.
    """
    version = re.match(r"(\d+\.\d+)(\.\d+)?$", wanted)
    if version:
        pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
        names = [sys.executable, shutil.which(f"python{version[1]}"), _found_by_uv(version[1])]
        candidates = [Path(name) for name in names if name]
        candidates += sorted(pyenv.glob(f"{version[1]}.*/bin/python3"), reverse=True)
    else:
        candidates = [Path(wanted)]
    refused = []
    for candidate in candidates:
        answer = toolchain.output_of(str(candidate), "-c", _INTERPRETER).split()
        if len(answer) == 2 and (not version or answer[0] == version[1]):
            if answer[1] == "True":
                return candidate
            refused.append(f"{candidate} lacks Python.h (on Debian and Ubuntu: apt install python{answer[0]}-dev)")
        elif not version:
            refused.append(f"{candidate} is no Python interpreter")
    where = "; ".join(refused) or "looked at this interpreter, PATH, uv and pyenv: install it, or give a path to one"
    raise InstallError(f"no Python {wanted} to build wheels with: {where}")


def normal(name: str) -> str:
    """A package's name as indexes compare it: lower case, with one `-` for each run of `-`, `_` and `.`."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _found_by_uv(version: str) -> str | None:
    uv = _uv()
    command = [uv, "python", "find", "--no-python-downloads", "--no-project", version] if uv else []
    return toolchain.output_of(*command).strip() if uv else None


def _uv() -> str | None:
    """uv from this environment, else from PATH."""
    return shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")


def _pip(python: str | Path) -> list[str]:
    """The pip that works for the interpreter `python`, which need not have one: ours, or one that uv fetches."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip", "--python", str(python)]
    uv = _uv()
    if uv is None:
        raise InstallError("neither pip nor uv is here: `python -m ensurepip` brings pip")
    return [uv, "tool", "run", "--python", sys.executable, "pip", "--python", str(python)]


def _run(command: list[str], doing: str, environment: Mapping[str, str] | None = None) -> None:
    """Run a command while a spinner shows the time and the file being compiled. Raises InstallError with its end."""
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    lines: list[str] = []
    compiled = 0
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(doing, total=None)
        with subprocess.Popen(
            command, env=environment, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process:
            for line in process.stdout or ():
                lines.append(line)
                if source := re.search(r" -c (\S+\.cpp) ", line):
                    compiled += 1
                    progress.update(task, description=f"{doing}: file {compiled}, {Path(source[1]).name}")
    if process.returncode:
        with tempfile.NamedTemporaryFile("w", prefix="fourways-", suffix=".log", delete=False) as whole:
            whole.writelines(lines)
        end = "".join([line for line in lines if re.search(r"\berror\b", line, re.IGNORECASE)][:8] or lines[-8:])
        raise InstallError(
            f"{doing} failed with exit code {process.returncode}; all of it in {whole.name}\n{end.rstrip()}"
        )


def _folders(roots: Iterable[toolchain.Root]) -> str:
    return ", ".join(str(root.folder) for root in roots) or "any place (no CUDA toolkit was found)"


def _joined(separator: str, *parts: str | None) -> str:
    return separator.join(part for part in parts if part)
