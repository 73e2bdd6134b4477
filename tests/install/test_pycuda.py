"""PyCUDA's build finds all it links with, and it is installed only where it is not; pip is a stand-in."""

import subprocess
import sys
from pathlib import Path

import layouts
import pytest
from layouts import Pip

from fourways import install
from fourways.install import PYCUDA, InstallError, build_pycuda


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose only toolkit lies in `tmp_path / "cuda"`, with a libcurand.so.10 and no libcurand.so."""
    root = layouts.toolkit(tmp_path / "cuda", parts=("nvcc", "headers"))
    for name in ("cuda.h", "cudaProfiler.h", "curand.h"):
        layouts.header(root / "include" / name, f"HAS_{name[:-2].upper()}", 1)
    curand = ["g++", "-shared", "-fPIC", "-Wl,-soname,libcurand.so.10", "-xc", "/dev/null"]
    (root / "lib").mkdir()
    subprocess.run([*curand, "-o", str(root / "lib" / "libcurand.so.10")], check=True)
    layouts.hide_wheels(tmp_path / "packages", monkeypatch)
    monkeypatch.setattr("fourways.toolchain.find.SYSTEM_ROOT", root)
    for name in ("CXX", "LIBRARY_PATH", "CPLUS_INCLUDE_PATH", "CUDA_PATH", "CUDA_HOME", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("LDFLAGS", "-Wl,--as-needed")  # Ubuntu's compilers do so by themselves
    return root


@pytest.mark.parametrize("lost", ["include/curand.h", "include/cudaProfiler.h", "lib/libcurand.so.10", "bin/nvcc"])
def test_what_the_build_lacks_is_named(machine: Path, pip: Pip, tmp_path: Path, lost: str) -> None:
    (machine / lost).unlink()
    with pytest.raises(InstallError, match=r"cuda-toolkit\[.*profiler,curand\]") as failure:
        build_pycuda(sys.executable, tmp_path)
    assert Path(lost).name.removesuffix(".10") in str(failure.value)
    assert str(machine) in str(failure.value)
    assert pip.calls() == []


@pytest.fixture
def site(tmp_path: Path, pip: Pip, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The packages of an environment that has no others: `sys.executable` is this Python without its own."""
    bare = layouts.script(tmp_path / "bare", f'exec "{sys.executable}" -S "$@"')
    monkeypatch.setattr(sys, "executable", str(bare))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'site'}:{pip.folder}")
    return tmp_path / "site"


def has_pycuda(site: Path, version: str, code: str) -> None:
    (site / "pycuda").mkdir(parents=True, exist_ok=True)
    for name, text in {"__init__": "", "driver": "", "compiler": code}.items():
        (site / "pycuda" / f"{name}.py").write_text(text)
    (site / f"pycuda-{version}.dist-info").mkdir(exist_ok=True)
    (site / f"pycuda-{version}.dist-info" / "METADATA").write_text(f"Name: pycuda\nVersion: {version}\n")


@pytest.mark.parametrize(
    ("version", "problem"), [(None, "is not installed"), ("2025.1", "version 2025.1 is installed")]
)
def test_a_pip_that_installs_nothing_is_not_believed(
    site: Path, pip: Pip, version: str | None, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if version:
        has_pycuda(site, version, "")
    said: list[str] = []
    with pytest.raises(InstallError, match=f"was built and installed, but {problem}"):
        install.install_pycuda(log=said.append)
    assert said[0].startswith(f"PyCUDA {problem}: building")
    first, _, last = (call["words"] for call in pip.calls())
    assert {"--no-deps", "--require-hashes"} <= {*first} and first[-1].endswith("/requirements-gpu.lock")
    assert "--force-reinstall" in last and last[-1].endswith(".whl")
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(InstallError, match="cannot be built: no C.. compiler found: install g"):
        build_pycuda(sys.executable, site)


def test_pycuda_is_built_once_and_its_lock_installed_again(site: Path, pip: Pip) -> None:
    """Without a network the lock may fail: PyCUDA is there."""
    has_pycuda(site, PYCUDA, "")
    said: list[str] = []
    install.install_pycuda(log=said.append)
    pip.then("sys.exit('no network')")
    install.install_pycuda(log=said.append)
    assert all(call["words"][-1].endswith("/requirements-gpu.lock") for call in pip.calls()) and len(pip.calls()) == 2
    there = f"PyCUDA {PYCUDA} is already installed"
    assert said[0] == said[2] == there and "no network" in said[1]
