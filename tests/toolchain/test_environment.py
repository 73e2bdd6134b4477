"""The variables that make every compiler take the same toolkit, and the caches of what they compiled."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import layouts
import pytest
from layouts import Machine

from fourways import toolchain


def test_activate_twice_is_activate_once(machine: Machine) -> None:
    root = machine.has("wheels")
    machine.has("PATH")
    machine.patch.setattr(os, "environ", dict(os.environ))
    before = os.environ["PATH"]
    toolchain.activate()
    once = dict(os.environ)
    toolchain.activate()
    assert os.environ == once
    assert once["PATH"] == f"{root / 'bin'}:{Path(sys.executable).parent}:{before}"
    assert once["CUDA_PATH"] == once["CUDA_HOME"] == str(root)
    assert once["CUDACXX"] == once["NVCC"] == shutil.which("nvcc") == str(root / "bin" / "nvcc")
    assert once["LIBRARY_PATH"] == str(root / "lib")


def test_what_is_not_set(machine: Machine) -> None:
    """Nothing without a toolkit; no LIBRARY_PATH with conda's; no NVCC with blanks, where CuPy would split it."""
    assert toolchain.variables() == {}
    machine.patch.setenv("CUDA_PATH", str(layouts.toolkit(machine.home / "my cuda")))
    assert "NVCC" not in toolchain.variables()
    assert toolchain.variables()["CUDACXX"].endswith("/my cuda/bin/nvcc")
    machine.has("conda", below=toolchain.TARGET)
    assert "LIBRARY_PATH" not in toolchain.variables()


def test_nvcc_is_told_its_host_compiler_where_it_would_take_another(machine: Machine) -> None:
    machine.has("system")
    machine.patch.setenv("PATH", str(machine.home / "bin"))
    clang = layouts.script(machine.home / "bin" / "clang++", "")
    assert toolchain.variables()["NVCC_CCBIN"] == str(clang), "no gcc here, so nvcc must be told"
    layouts.script(machine.home / "bin" / "gcc", "")
    assert "NVCC_CCBIN" not in toolchain.variables()
    machine.patch.setenv("CXX", str(clang))
    assert toolchain.variables()["NVCC_CCBIN"] == str(clang)
    machine.patch.setenv("NVCC_CCBIN", "/my/own")
    assert toolchain.variables()["NVCC_CCBIN"] == "/my/own"


def test_a_child_has_this_package_and_this_clone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "mine")
    monkeypatch.chdir("/")
    variables = toolchain.child_environment()
    assert variables["PYTHONPATH"] == f"{root / 'scripts'}:/mine"
    assert variables["FOURWAYS_ROOT"] == str(root)
    assert variables["CUDACXX"] == str(toolchain.nvcc())


# --- this machine -----------------------------------------------------------------------------------------------------


def test_nvcc_links_in_this_environment(tmp_path: Path) -> None:
    """The wheels' nvcc does not find its own cudart without LIBRARY_PATH."""
    (tmp_path / "empty.cu").write_text('__global__ void empty() {}\nextern "C" void go() { empty<<<1, 1>>>(); }\n')
    command = ["nvcc", "-arch=sm_90", "-shared", "-Xcompiler=-fPIC", "empty.cu", "-o", "empty.so"]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | toolchain.variables(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
