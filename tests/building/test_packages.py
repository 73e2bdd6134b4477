"""PyCUDA and cuda.core in fresh processes: their options, caches and refusals."""

import sys
from pathlib import Path

import pytest

from fourways import building, kernels, toolchain
from fourways.building.packages import NotOfferedError

DOUBLIFY = kernels.path("doublify")
PACKAGES = (
    pytest.param(
        "pycuda", marks=pytest.mark.skipif(not toolchain.installed("pycuda"), reason="PyCUDA is not installed")
    ),
    "cuda.core",
)


@pytest.mark.parametrize(
    "options",
    [
        ["-use_fast_math", "-DSCALE=3", "-DON"],
        pytest.param(["--fmad=false"], marks=pytest.mark.long),
        pytest.param(["-maxrregcount=24"], marks=pytest.mark.long),
        pytest.param(["-std=c++20", "-prec-div=false"], marks=pytest.mark.long),
    ],
)
def test_cuda_core_takes_options_by_name(options: list[str], tmp_path: Path) -> None:
    """Each is worth other machine code, and the same as NVRTC makes with the words themselves."""
    kernel = tmp_path / "kernel.cu"
    kernel.write_text("""
        #ifndef SCALE
        #define SCALE 1
        #endif
        #ifdef ON
        __device__ int on[ON];
        #endif
        extern "C" __global__ void k(float* x)
        {
            float v[40];
            for (int i = 0; i < 40; i++) v[i] = x[i] * x[i + 1] + SCALE;
            __syncthreads();
            for (int i = 0; i < 40; i++) x[i] = v[39 - i] / x[i + __cplusplus % 1000];
        }""")
    plain = building.build(kernel, "nvrtc", "sm_90")
    own = building.build(kernel, "nvrtc", "sm_90", options=options)
    made = building.make(kernel, "cuda.core", "sm_90", options)
    assert made.resources == own.resources
    assert made.sizes["cubin"] == len(own.code) != len(plain.code)


def test_cuda_core_has_no_name_for_some_options() -> None:
    with pytest.raises(NotOfferedError, match="no name for -Xptxas=-O1"):
        building.make(DOUBLIFY, "cuda.core", "sm_90", ["-Xptxas=-O1"])


def test_cuda_core_finds_its_cache(two_kernels: Path) -> None:
    made = building.make(two_kernels, "cuda.core", "sm_90", ["-DSIZE=64"])
    assert 0 < min(made.cached) < min(made.seconds) / 2
    two_kernels.write_text("#include <cuda_fp16.h>\n" + two_kernels.read_text())
    made = building.make(two_kernels, "cuda.core", "sm_90", ["-DSIZE=64"])
    assert made.seconds and not made.cached
    assert "digest of all headers" in made.missing["cached"]


@pytest.mark.parametrize("package", PACKAGES)
def test_refusals_are_the_compilers_own_words_and_advice(package: str, tmp_path: Path) -> None:
    file = tmp_path / "broken.cu"
    file.write_text('extern "C" __global__ void broken(float *x) { x[0] = nonsense; }\n')
    with pytest.raises(
        building.BuildError, match=r'"nonsense" is undefined(.|\n)*\nAdvice: mend the source'
    ) as refused:
        building.make(file, package, "sm_90")
    assert str(refused.value).startswith(f"{package} could not compile broken.cu for sm_90:\n")
    assert str(refused.value).count("Advice: ") == 1
    with pytest.raises(building.BuildError, match=r"rchitecture(.|\n)*\nAdvice: take one that .* 75, 80"):
        building.make(DOUBLIFY, package, "sm_999")


def test_a_process_that_dies_leaves_its_last_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no memory left >&2\nexit 9\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(building.BuildError, match="for sm_90:\nno memory left$"):
        building.make(DOUBLIFY, "cuda.core", "sm_90")
