"""Builds the pybind11 module `fourways_aot`, with one kernel, in a folder of one's own: the one place that does."""

import os
import re
import subprocess
import sys
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
    commands = [["cmake", "--build", str(folder)]]
    if not (folder / "CMakeCache.txt").exists():
        words = f"-G Ninja -DCMAKE_BUILD_TYPE=Release -DFOURWAYS_KERNELS={kernel}".split()
        words += [f"-DPython_EXECUTABLE={sys.executable}", *options]
        commands.insert(0, ["cmake", "-S", str(cpp or kernels.root() / "cpp"), "-B", str(folder), *words])
    environment = os.environ | toolchain.variables()
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"  # the wheels' cmake, ninja
    start = time.perf_counter()
    for command in commands:
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            said = done.stdout + done.stderr
            failed = re.search("^(CMake Error|FAILED)", said, re.MULTILINE)  # before it stands what went well
            raise BuildError(f"CMake could not build the module with {kernel}", said[failed.start() if failed else 0 :])
    return time.perf_counter() - start
