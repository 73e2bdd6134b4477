"""Packages of `fourways package`, built by pip as wheels from what is installed here, for one architecture."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from fourways import own_kernel, project, toolchain


def run(*words: object, **more: str) -> str:
    """The output of a command that succeeds, with this environment's compilers and tools on its path."""
    environment = os.environ | toolchain.variables()
    environment["PATH"] = f"{sysconfig.get_path('scripts')}{os.pathsep}{environment['PATH']}"
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, env=environment | more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def install(kernel: Path, made: Path) -> None:
    """Write the package of `NAME.cu` and `NAME_case.py` to `made/NAME`, and install its wheel in `made/site`."""
    pytest.importorskip("pip")
    pytest.importorskip("scikit_build_core")
    if reason := toolchain.missing("nvcc"):
        pytest.skip(reason)
    case = own_kernel.read(kernel, kernel.with_name(f"{kernel.stem}_case.py"))
    project.write(case, made / kernel.stem)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    arch = f"cmake.define.CMAKE_CUDA_ARCHITECTURES={toolchain.gpu_arch().removeprefix('sm_')}-real"
    options = ("--no-index", "--no-deps", "--no-build-isolation", f"--config-settings={arch}")
    run(*pip, "wheel", *options, "--wheel-dir", made, made / kernel.stem)
    (wheel,) = made.glob("*.whl")
    run(*pip, "install", "--no-index", "--no-deps", "--target", made / "site", wheel)


def own_tests(name: str, made: Path) -> str:
    """What pytest says of the package's own tests, with the package of `made/site`."""
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", made / name / "tests")
    return run(sys.executable, *words, PYTHONPATH=str(made / "site"))
