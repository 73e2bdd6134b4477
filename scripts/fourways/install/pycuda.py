"""PyCUDA built from source, with or without a driver, and installed. PyCUDA has no wheels."""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from fourways import kernels, toolchain
from fourways.install.pip import InstallError, pip, run

PYCUDA = "2026.1"
"""The version of PyCUDA. pyproject.toml names it too, and a test compares the two."""

PYCUDA_SHA256 = "759516160628ba06f32ce7e563e3f5b9214691dc9528a03ea99ea1073f4e14ba"
"""The hash of that version's source distribution."""

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


def install_pycuda(log: Callable[[str], None] = print) -> None:
    """Build PyCUDA, install it in this environment with requirements-gpu.lock, and import it in a fresh process.

    Does nothing if the right version is installed and can be imported. Needs nvcc, CUDA's headers and a C++ compiler,
    but no driver. Raises InstallError.
    """
    problem = pycuda_problem()
    if problem is None:
        log(f"PyCUDA {PYCUDA} is already installed")
        return
    log(f"PyCUDA {problem}: building {PYCUDA} from source: one to two minutes")
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fourways-") as work:
        install_for_gpu()
        wheel = str(build_pycuda(sys.executable, Path(work)))
        run(pip(sys.executable, "install", "--no-deps", "--force-reinstall", wheel), "installing PyCUDA")
    if problem := pycuda_problem():
        raise InstallError(f"PyCUDA {PYCUDA} was built and installed, but {problem}")
    log(f"PyCUDA {PYCUDA} built and installed in {time.monotonic() - start:.0f} s")


def install_for_gpu() -> None:
    """Install requirements-gpu.lock in this environment: what PyCUDA's build and the profilers need."""
    lock = str(kernels.root() / "requirements-gpu.lock")
    install = pip(sys.executable, "install", "--no-deps", "--require-hashes", "-r", lock)
    run(install, "installing what PyCUDA and the profilers need")


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
    link libcurand.so, and an empty libcuda.so with the driver's soname, which is enough to link.
    Raises InstallError, which names what is missing.
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
