"""What each compiler makes of a kernel: the same machine code, caches that are hit, reasons for what is missing."""

import subprocess
import sys
from pathlib import Path

import pytest

from fourways import _build_process, building, compilers, kernels, toolchain

DOUBLIFY = kernels.path("doublify")
BROKEN = 'extern "C" __global__ void broken(float *x) { x[0] = nonsense; }\n'
PYCUDA = pytest.param(
    "pycuda", marks=pytest.mark.skipif(not toolchain.installed("pycuda"), reason="PyCUDA is not installed")
)


@pytest.fixture(scope="module")
def module() -> compilers.Made:
    """The extension module with doublify alone, by CMake: seconds to build, so once."""
    return compilers.make(DOUBLIFY, "cmake", "sm_86", ["-lineinfo"])


@pytest.mark.parametrize("compiler", ["nvrtc", "nvcc", PYCUDA, "cuda.core"])
def test_packages_make_what_their_compiler_makes(compiler: str, two_kernels: Path) -> None:
    """Options, architecture and the report of ptxas get through; nothing else that counts is added."""
    made = compilers.make(two_kernels, compiler, "sm_80", ["-DSIZE=128"])
    own = building.build(
        two_kernels,
        "nvcc" if compiler == "pycuda" else compiler.replace("cuda.core", "nvrtc"),
        "sm_80",
        options=["-DSIZE=128"],
    )
    assert made.resources == own.resources and made.resources["heavy"].shared_bytes == 512
    assert made.sizes["cubin"] == len(own.code)
    assert len(made.seconds) == compilers.TIMES and min(made.seconds) > 0


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
    made = compilers.make(DOUBLIFY, compiler, "sm_90")
    assert set(made.sizes) | set(made.missing) - {"cached"} == artefacts
    assert all(size > 500 for size in made.sizes.values())
    if not toolchain.driver():
        assert ("ptx" in made.missing) == (compiler == "cuda.core"), "cuda.core alone asks the driver"


def test_the_module_by_cmake(module: compilers.Made) -> None:
    plain = building.build(DOUBLIFY, "nvcc", "sm_86")
    assert module.resources["doublify"].registers == plain.registers
    assert set(module.resources) == {"doublify"} and {"shared", "spill"} <= set(module.missing)
    assert module.sizes["cubin"] > len(plain.code), "-lineinfo got through"
    assert module.sizes["module"] > 10 * module.sizes["cubin"]
    assert module.seconds[0] > 10 * max(module.cached), "there is nothing to do the second time"


def test_cuda_core_finds_its_cache(two_kernels: Path) -> None:
    made = compilers.make(two_kernels, "cuda.core", "sm_90", ["-DSIZE=64"])
    assert 0 < max(made.cached) < min(made.seconds) / 5
    two_kernels.write_text("#include <cuda_fp16.h>\n" + two_kernels.read_text())
    made = compilers.make(two_kernels, "cuda.core", "sm_90", ["-DSIZE=64"])
    assert made.seconds and not made.cached
    assert "digest of all headers" in made.missing["cached"]


@pytest.mark.skipif(toolchain.missing("gpu") is None, reason="this machine has a GPU")
@pytest.mark.parametrize("compiler", ["nvrtc", "nvcc", PYCUDA])
def test_without_a_gpu_some_caches_cannot_be_timed(compiler: str) -> None:
    made = compilers.make(DOUBLIFY, compiler, "sm_90")
    assert made.cached == [] and "no NVIDIA driver" in made.missing["cached"]


def test_cuda_core_takes_options_by_name() -> None:
    options = ["-DA", "-DB=3", "-I/there", "--fmad=false", "-use_fast_math", "-maxrregcount=32", "-std=c++20"]
    assert _build_process.core_fields(options) == {
        "define_macro": [("A", "1"), ("B", "3")],
        "include_path": ["/there"],
        "fma": False,
        "use_fast_math": True,
        "max_register_count": 32,
        "std": "c++20",
    }
    with pytest.raises(compilers.NotOfferedError, match="no name for -Xptxas=-O1"):
        compilers.make(DOUBLIFY, "cuda.core", "sm_90", ["-Xptxas=-O1"])


@pytest.mark.parametrize("compiler", ["nvrtc", "nvcc", PYCUDA, "cuda.core"])
def test_refusals_are_the_compilers_own_words_and_advice(compiler: str, tmp_path: Path) -> None:
    file = tmp_path / "broken.cu"
    file.write_text(BROKEN)
    with pytest.raises(building.BuildError, match='(?s)"nonsense" is undefined.*\nAdvice: mend the source at the line'):
        compilers.make(file, compiler, "sm_90")
    file.write_text('#include "nowhere.cuh"\n')
    with pytest.raises(
        building.BuildError, match=r"(?s)nowhere.cuh.*\nAdvice: put that header beside the file, or name its folder"
    ):
        compilers.make(file, compiler, "sm_90")
    with pytest.raises(building.BuildError, match=r"(?s)rchitecture.*\nAdvice: take one that .* 75, 80"):
        compilers.make(DOUBLIFY, compiler, "sm_999")


@pytest.mark.parametrize("compiler", ["nvrtc", "nvcc", PYCUDA, "cuda.core"])
def test_headers_in_a_folder_below_this_one(
    compiler: str, two_kernels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "size.cuh").write_text("#define SIZE 32\n")
    (tmp_path / "own.cu").write_text('#include "size.cuh"\n' + two_kernels.read_text())
    monkeypatch.chdir(tmp_path)
    assert compilers.make("own.cu", compiler, "sm_90", ["-Ibelow"]).resources["heavy"].shared_bytes == 128


def test_refusal_by_cmake_starts_where_it_failed() -> None:
    with pytest.raises(building.BuildError, match=r"(?s)for sm_999:\nCMake Error.*'compute_999'.*\nAdvice: take one"):
        compilers.make(DOUBLIFY, "cmake", "sm_999")


def test_who_cannot_build_says_why(two_kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "two.cu lies elsewhere" in (compilers.unavailable("cmake", two_kernels) or "")
    assert compilers.unavailable("cmake", DOUBLIFY) is None
    assert compilers.unavailable("nvrtc", two_kernels) is None
    monkeypatch.setattr(toolchain, "installed", lambda module: None)
    with pytest.raises(compilers.NotOfferedError, match="PyCUDA is not installed: fourways install-pycuda"):
        compilers.make(DOUBLIFY, "pycuda", "sm_90")
    monkeypatch.setattr(toolchain, "nvcc", lambda: None)
    assert (
        compilers.unavailable("nvcc", DOUBLIFY)
        == compilers.unavailable("cmake", DOUBLIFY)
        == ("no nvcc found: make setup")
    )
    with pytest.raises(ValueError, match="no compiler 'gcc'; there are: nvrtc"):
        compilers.make(DOUBLIFY, "gcc", "sm_90")


def test_a_kernel_without_a_binding_has_no_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = tmp_path / "cpp" / "kernels" / "lonely.cuh"
    kernel.parent.mkdir(parents=True)
    kernel.write_text('extern "C" __global__ void lonely() {}')
    monkeypatch.setattr(kernels, "root", lambda: tmp_path)
    assert compilers.unavailable("cmake", kernel) == "there is no cpp/aot/lonely.cu that binds this kernel"


def test_a_process_that_dies_leaves_its_last_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no memory left >&2\nexit 9\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(building.BuildError, match="for sm_90:\nno memory left"):
        compilers.make(DOUBLIFY, "cuda.core", "sm_90")


def test_importing_needs_neither_cupy_nor_matplotlib() -> None:
    code = "import sys, fourways.builds; print({'cupy', 'pycuda', 'matplotlib', 'cuda.core'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "set()", done.stderr
