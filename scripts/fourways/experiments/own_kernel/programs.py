"""What the page starts: `fourways` in a folder of its own, pip and pytest on the generated package."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fourways import toolchain


def workbench() -> str:
    """Make a new folder the current one, for this process, and return the command `fourways` for a notebook's page."""
    folder = tempfile.mkdtemp(prefix="fourways-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.chdir(folder)
    return f"TTY_COMPATIBLE=0 COLUMNS=92 {sys.executable} -m fourways"


def install(project: str, folder: str) -> None:
    """Install the package in `project` into `folder` by pip, without the network, and print the seconds it takes.

    One architecture is built: this machine's GPU, or sm_90.
    """
    offline = ["--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
    arch = toolchain.gpu_arch().removeprefix("sm_")
    setting = f"--config-settings=cmake.define.CMAKE_CUDA_ARCHITECTURES={arch}"
    command = [sys.executable, "-m", "pip", "install", *offline, "--target", folder, setting, project]
    start = time.perf_counter()
    done = subprocess.run(command, env=toolchain.child_environment(), capture_output=True, text=True)
    print(f"pip install: exit code {done.returncode}, {time.perf_counter() - start:.0f} s{done.stderr[-2000:]}")


def run_tests(project: str, folder: str) -> None:
    """Run the tests of the package in `project`, installed in `folder`, by pytest, and print its last lines."""
    paths = os.pathsep.join([str(Path(folder).resolve()), os.environ.get("PYTHONPATH", "")])
    environment = toolchain.child_environment() | {"PYTHONPATH": paths}
    options = ["-q", "--color=no", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, f"{project}/tests"]
    print(subprocess.run(command, env=environment, capture_output=True, text=True).stdout[-400:])
