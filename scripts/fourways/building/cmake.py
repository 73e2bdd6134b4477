"""Runs CMake: for the module `fourways_aot` with one kernel, and for any other folder with a CMakeLists.txt."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path

from fourways import kernels, toolchain
from fourways.building.compile import BuildError


def build_binding(kernel: str, folder: Path, cpp: Path | None = None, options: Sequence[str] = ()) -> float:
    """Build the pybind11 module with this one kernel in `folder`, and return the seconds it took.

    `cpp` is the folder of `CMakeLists.txt`, by default the clone's own; `options` are CMake's, as
    `-DCMAKE_CUDA_FLAGS=-lineinfo`. Calling again rebuilds what has changed.
    Raises BuildError with CMake's own words, from where it failed.
    """
    start = time.perf_counter()
    build_with_cmake(
        cpp or kernels.root() / "cpp",
        folder,
        [f"-DFOURWAYS_KERNELS={kernel}", *options],
        f"CMake could not build the module with {kernel}",
    )
    return time.perf_counter() - start


def build_with_cmake(source: Path, folder: Path, options: Sequence[str], failure: str) -> None:
    """Build in `folder` what the CMakeLists.txt of `source` describes, for release, for this Python with its pybind11.

    CMake is configured with `options` unless `folder` holds a CMakeCache.txt. Calling again rebuilds what has changed.
    Raises BuildError, which says `failure` and CMake's own words, from where it failed.
    """
    import pybind11

    commands = [["--build", str(folder)]]
    if not (folder / "CMakeCache.txt").exists():
        ours = [f"-DPython_EXECUTABLE={sys.executable}", f"-Dpybind11_DIR={pybind11.get_cmake_dir()}"]
        words = ["-GNinja", "-DCMAKE_BUILD_TYPE=Release", *ours, *options]
        commands.insert(0, ["-S", str(source), "-B", str(folder), *words])
    environment = os.environ | toolchain.variables()
    # the wheels' cmake and ninja come first
    environment["PATH"] = f"{sysconfig.get_path('scripts')}{os.pathsep}{environment['PATH']}"
    for command in commands:
        done = subprocess.run(["cmake", *command], env=environment, capture_output=True, text=True, errors="replace")
        if done.returncode:
            if "-S" in command:  # CMake's cached findings may be wrong: the next call starts anew
                (folder / "CMakeCache.txt").unlink(missing_ok=True)
                shutil.rmtree(folder / "CMakeFiles", ignore_errors=True)
            said = done.stdout + done.stderr
            failed = re.search("^(CMake Error|FAILED)", said, re.MULTILINE)  # the lines before report successes
            raise BuildError(failure, said[failed.start() if failed else 0 :])
