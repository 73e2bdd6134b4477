"""Builds the pybind11 module `fourways_aot`, with one kernel, in a folder of one's own: the one place that does."""

import os
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
    Raises BuildError with CMake's own words.
    """
    configure = [
        *("cmake", "-S", str(cpp or kernels.root() / "cpp"), "-B", str(folder), "-G", "Ninja"),
        *(f"-DFOURWAYS_KERNELS={kernel}", f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_BUILD_TYPE=Release"),
        *options,
    ]
    environment = os.environ | toolchain.variables()
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"  # the wheels' cmake, ninja
    start = time.perf_counter()
    commands = [] if (folder / "CMakeCache.txt").exists() else [configure]
    for command in [*commands, ["cmake", "--build", str(folder)]]:
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise BuildError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return time.perf_counter() - start
