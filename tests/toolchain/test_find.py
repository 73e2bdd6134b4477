"""Which toolkit and which program is taken on which machine; machines are folders (tests/layouts.py)."""

import layouts
import pytest
from layouts import Machine

from fourways import toolchain

ORIGINS = ("wheels", "conda", "CUDA_PATH", "CUDA_HOME", "system", "PATH")


@pytest.mark.parametrize("best", range(len(ORIGINS)))
def test_preference(machine: Machine, best: int) -> None:
    """The best of the origins that are there wins, however many worse ones there are."""
    roots = [machine.has(origin) for origin in ORIGINS[best:]]
    assert toolchain.nvcc() == roots[0] / "bin" / "nvcc"
    assert (compiler := toolchain.nvcc()) and compiler.parents[1] == roots[0]
    assert toolchain.include_dirs() == [roots[0] / "include", roots[0] / "include" / "cccl"]
    assert list(toolchain.roots()) == roots


def test_nothing_there_or_no_program(machine: Machine) -> None:
    assert toolchain.nvcc() is None and toolchain.include_dirs() == []
    (machine.has("wheels") / "bin" / "nvcc").chmod(0o644)
    system = machine.has("system")
    assert toolchain.nvcc() == system / "bin" / "nvcc"
    on_path = layouts.script(machine.home / "bin" / "nvdisasm", "")
    assert toolchain.program("nvdisasm") == on_path
    inside = layouts.script(system / "bin" / "nvdisasm", "")
    assert toolchain.program("nvdisasm") == inside


@pytest.mark.parametrize("where", ["PATH", "CUDA_PATH"])
def test_wrapper_leads_to_its_toolkit(machine: Machine, where: str) -> None:
    """/usr/local/bin/nvcc can be a script: neither /usr/local nor the script is the toolkit."""
    real = layouts.toolkit(machine.home / "opt" / "cuda-13.0")
    layouts.script(machine.home / "bin" / "nvcc", f'exec {real / "bin" / "nvcc"} "$@"')
    if where == "CUDA_PATH":
        machine.patch.setenv("CUDA_PATH", str(machine.home))
        machine.patch.setenv("PATH", "/usr/bin:/bin")
    assert (compiler := toolchain.nvcc()) and compiler.parents[1] == real
    assert toolchain.nvcc() == real / "bin" / "nvcc"
    assert toolchain.include_dirs()[0] == real / "include"


def test_conda_layout(machine: Machine) -> None:
    root = machine.has("conda", below=toolchain.TARGET)
    include = root / toolchain.TARGET / "include"
    assert toolchain.nvcc() == root / "bin" / "nvcc"
    assert toolchain.include_dirs() == [include, include / "cccl"]


def test_partial_wheels(machine: Machine) -> None:
    """A GPU machine can have the runtime's and NVRTC's wheels and take nvcc and CCCL from the system's toolkit."""
    wheels, system = machine.has("wheels", parts=("headers",)), machine.has("system")
    assert toolchain.nvcc() == system / "bin" / "nvcc"
    assert (compiler := toolchain.nvcc()) and compiler.parents[1] == system
    assert toolchain.include_dirs() == [wheels / "include", system / "include" / "cccl"]


@pytest.mark.parametrize("lost", ["crt", "runtime"])
def test_a_folder_with_a_part_of_the_headers_is_passed_over(machine: Machine, lost: str) -> None:
    """PyTorch brings the runtime's wheel without the one of crt/; nvcc's wheels bring crt/ and may lie elsewhere."""
    wheels, system = machine.has("wheels", parts=("nvcc", "headers")), machine.has("system")
    for header in [*(wheels / "include" / "crt").iterdir()] if lost == "crt" else (wheels / "include").glob("*.h"):
        header.unlink()
    assert toolchain.include_dirs() == [system / "include", system / "include" / "cccl"]


def test_host_compiler(machine: Machine) -> None:
    """CXX, then conda's, then g++, then clang++."""
    machine.patch.setenv("PATH", str(machine.home / "bin"))
    assert toolchain.host_compiler() is None
    clang = layouts.script(machine.home / "bin" / "clang++", "")
    assert toolchain.host_compiler() == clang
    gxx = layouts.script(machine.home / "bin" / "g++", "")
    assert toolchain.host_compiler() == gxx
    conda = layouts.script(machine.has("conda") / "bin" / "x86_64-conda-linux-gnu-c++", "")
    assert toolchain.host_compiler() == conda
    mine = layouts.script(machine.home / "mine" / "g++-14", "")
    machine.patch.setenv("CXX", f"ccache {mine} -m64")
    assert toolchain.host_compiler() == mine
