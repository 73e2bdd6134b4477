"""What each compiler makes of a kernel: the same machine code as NVRTC or nvcc, and reasons for what is missing."""

import functools
import sys
from pathlib import Path
from typing import Any

import pytest

from fourways import building, kernels, toolchain
from fourways.building.artefacts import Made
from fourways.building.packages import NotOfferedError

DOUBLIFY = kernels.path("doublify")
PYCUDA = pytest.param(
    "pycuda", marks=pytest.mark.skipif(not toolchain.installed("pycuda"), reason="PyCUDA is not installed")
)
BY_THEMSELVES = ("nvrtc", "nvcc", PYCUDA, "cuda.core")


@pytest.fixture(scope="module")
def built() -> list[int]:
    """When CMake's module was written, as its file says after each call of CMake."""
    return []


@pytest.fixture(scope="module")
def module(built: list[int]) -> Made:
    """The extension module with doublify alone, by CMake: seconds to build, so once."""

    def noting(kernel: str, folder: Path, **more: Any) -> float:
        seconds = building.build_binding(kernel, folder, **more)
        (file,) = folder.glob("*.so")
        built.append(file.stat().st_mtime_ns)
        return seconds

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["fourways.building.artefacts"], "build_binding", noting)
        return building.make(DOUBLIFY, "cmake", "sm_86", ["-lineinfo"])


@pytest.mark.parametrize("compiler", BY_THEMSELVES)
def test_packages_make_what_their_compiler_makes(compiler: str, two_kernels: Path) -> None:
    """Options, architecture and the report of ptxas get through; nothing else that counts is added."""
    made = building.make(two_kernels, compiler, "sm_80", ["-DSIZE=128"])
    own = building.build(
        two_kernels, "nvcc" if compiler in ("nvcc", "pycuda") else "nvrtc", "sm_80", options=["-DSIZE=128"]
    )
    assert made.resources == own.resources and made.resources["heavy"].shared_bytes == 512
    assert made.sizes["cubin"] == len(own.code)
    assert len(made.seconds) == 3 and min(made.seconds) > 0


@functools.cache
def doublify_by(compiler: str) -> Made:
    return building.make(DOUBLIFY, compiler, "sm_90")


@pytest.mark.parametrize(
    "compiler, artefacts",
    [
        ("nvrtc", {"cubin", "ptx", "ltoir"}),
        ("nvcc", {"cubin", "ptx", "ltoir", "fatbin"}),
        pytest.param("pycuda", {"cubin", "ptx", "fatbin"}, marks=PYCUDA.marks),
        ("cuda.core", {"cubin", "ptx", "ltoir"}),
    ],
)
def test_artefacts(compiler: str, artefacts: set[str]) -> None:
    made = doublify_by(compiler)
    assert set(made.sizes) | set(made.missing) - {"cached"} == artefacts
    assert all(size > 500 for size in made.sizes.values())
    if not toolchain.driver():
        assert ("ptx" in made.missing) == (compiler == "cuda.core"), "cuda.core alone asks the driver"


@pytest.mark.long
def test_the_module_by_cmake(module: Made, built: list[int]) -> None:
    plain = building.build(DOUBLIFY, "nvcc", "sm_86")
    assert module.resources["doublify"].registers == plain.registers
    assert set(module.resources) == {"doublify"} and {"shared", "spill"} <= set(module.missing)
    assert module.sizes["cubin"] > len(plain.code), "-lineinfo got through"
    assert module.sizes["module"] > 10 * module.sizes["cubin"]
    assert built == built[:1] * 4 and len(module.cached) == 3, "there is nothing to do the second time"


@pytest.mark.skipif(toolchain.missing("gpu") is None, reason="this machine has a GPU")
@pytest.mark.parametrize("compiler", ["nvrtc", "nvcc", PYCUDA])
def test_without_a_gpu_some_caches_cannot_be_timed(compiler: str) -> None:
    made = doublify_by(compiler)
    assert made.cached == [] and "no NVIDIA driver" in made.missing["cached"]


@pytest.mark.parametrize("compiler", BY_THEMSELVES)
def test_headers_in_a_folder_below_this_one(
    compiler: str, two_kernels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "size.cuh").write_text("#define SIZE 32\n")
    (tmp_path / "own.cu").write_text('#include "size.cuh"\n' + two_kernels.read_text())
    monkeypatch.chdir(tmp_path)
    assert building.make("own.cu", compiler, "sm_90", ["-Ibelow"]).resources["heavy"].shared_bytes == 128


def reason(path: Path, compiler: str) -> str:
    """Why this compiler does not build this kernel here."""
    with pytest.raises(NotOfferedError) as refusal:
        building.make(path, compiler, "sm_90")
    return str(refusal.value)


def test_who_cannot_build_says_why(two_kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "for two.cu a case makes one: --case my_case.py" in reason(two_kernels, "cmake")
    program = toolchain.program
    monkeypatch.setattr(toolchain, "program", lambda name: None if name == "cuobjdump" else program(name))
    assert reason(DOUBLIFY, "cmake").startswith("no cuobjdump found")
    monkeypatch.setattr(toolchain, "installed", lambda module: None)
    assert reason(DOUBLIFY, "pycuda") == "PyCUDA is not installed: fourways install-pycuda"
    monkeypatch.setattr(toolchain, "nvcc", lambda: None)
    assert reason(DOUBLIFY, "nvcc") == reason(DOUBLIFY, "cmake") == "no nvcc found: make setup"
    with pytest.raises(ValueError, match="no compiler 'gcc'; there are: nvrtc"):
        building.make(DOUBLIFY, "gcc", "sm_90")


def test_a_kernel_without_a_binding_has_no_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = tmp_path / "cpp" / "kernels" / "lonely.cuh"
    kernel.parent.mkdir(parents=True)
    kernel.write_text('extern "C" __global__ void lonely() {}')
    monkeypatch.setattr(kernels, "root", lambda: tmp_path)
    assert reason(kernel, "cmake") == "there is no cpp/aot/lonely.cu that launches this kernel"
