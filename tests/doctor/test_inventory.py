"""Which tool was found, where, and why that one; machines are folders (tests/layouts.py)."""

import os
import subprocess
import sys
from pathlib import Path

import layouts
import pytest
from layouts import Machine

from fourways import toolchain
from fourways.doctor import inventory
from fourways.doctor.inventory import Tool


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_which_and_why(machine: Machine) -> None:
    wheels = machine.has("wheels", "13.0.88", parts=("headers", "cccl"))
    system = machine.has("system", "12.8.93")
    machine.patch.setattr(toolchain, "loaded_library", lambda name: None)
    tools = inventory.tools()
    assert tools["nvcc"] == Tool("nvcc", system / "bin" / "nvcc", "12.8.93", f"from {system}")
    headers = (wheels / "include", "13.0", "from this environment's wheels", (system / "include",))
    assert tools["CUDA headers"] == Tool("CUDA headers", *headers)
    assert (tools["CCCL"].path, tools["CCCL"].version) == (wheels / "include" / "cccl", "3.0.1")
    assert tools["PyCUDA"] == Tool("PyCUDA") and tools["driver"] == Tool("driver")
    assert tools["NVRTC"].path is None and "cuda.pathfinder" in tools["NVRTC"].why


def test_the_libraries_say_their_versions(machine: Machine) -> None:
    wheels = machine.has("wheels")
    code = "int {name}(int *major, int *minor) {{ *major = 13; *minor = {minor}; return 0; }}"
    nvrtc = layouts.library(wheels / "lib" / "libnvrtc.so.13", code.format(name="nvrtcVersion", minor=0))
    linker = layouts.library(wheels / "lib" / "libnvJitLink.so.13", code.format(name="nvJitLinkVersion", minor=5))
    (wheels / "lib" / "libnvrtc.alt.so.13").touch()
    other = machine.has("system") / "lib64" / "libnvrtc.so.13"
    other.parent.mkdir()
    other.touch()
    machine.patch.setattr(toolchain, "loaded_library", {"nvrtc": nvrtc, "nvJitLink": linker}.get)
    tools = inventory.tools()
    assert (tools["NVRTC"].version, tools["nvJitLink"].version) == ("13.0", "13.5")
    assert tools["NVRTC"].passed_over == (other,)


def test_profilers_of_nvidias_own_packages(machine: Machine) -> None:
    older, newer = (
        layouts.script(machine.home / f"opt/nvidia/nsight-compute/{version}/ncu", f"echo Version {version}")
        for version in ("2025.1.1", "2026.2.0")
    )
    ncu = inventory.tools()["ncu"]
    assert (ncu.path, ncu.version, ncu.passed_over) == (newer, "2026.2.0", (older,))
    assert toolchain.program("ncu") == newer, "the profiler takes the same"


def test_the_packages_of_this_environment() -> None:
    tools = inventory.tools()
    for name, distribution in (("cuda.core", "cuda-core"), ("pybind11", "pybind11"), ("fourways_aot", "fourways")):
        assert tools[name].path and tools[name].version == toolchain.distributions(distribution)[distribution]
    assert tools["CuPy"].version in toolchain.distributions(*toolchain.CUPY).values()
    assert tools["cmake"].path == Path(sys.executable).with_name("cmake")


def test_the_driver_is_shown_with_its_library(tmp_path: Path) -> None:
    """In a process of its own: the loader reads LD_LIBRARY_PATH at its start."""
    library = layouts.driver(tmp_path / "libcuda.so.1")
    script = "from fourways.doctor.inventory import tools; print(tools()['driver'])"
    variables = os.environ | toolchain.child_environment() | {"LD_LIBRARY_PATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=variables, capture_output=True, text=True)
    assert f"PosixPath('{library}')" in done.stdout and "why='CUDA 13.0'" in done.stdout, done.stderr


def test_a_header_may_hold_bytes_of_any_encoding(tmp_path: Path) -> None:
    (tmp_path / "crt").mkdir()
    (tmp_path / "crt" / "host_config.h").write_bytes(b"// \xff\n#if __GNUC__ > 15\n#if __clang_major__ >= 22\n")
    assert [inventory.newest_host_compiler(tmp_path, kind) for kind in ("gcc", "clang")] == [15, 21]
