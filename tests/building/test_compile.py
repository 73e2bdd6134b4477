"""What NVRTC and nvcc make of a kernel, and errors as the compilers wrote them, with advice."""

import re
import sys
from pathlib import Path

import pytest
from cuda.bindings.nvrtc import nvrtcResult
from machine_code import instructions

from fourways import building, kernels, toolchain

DOUBLIFY = kernels.path("doublify")
ADDED = {"nvrtc": ["-ftz=true", "--device-as-default-execution-space"], "nvcc": ["-ftz=true"]}
"""The options that CuPy 14's `RawModule` adds to ours."""


@pytest.mark.parametrize("compiler", building.COMPILERS)
def test_ptx_is_text_for_the_asked_architecture(compiler: str) -> None:
    built = building.build(DOUBLIFY, compiler, "sm_80", "ptx")
    assert b".target sm_80" in built.code and b".entry doublify" in built.code and built.resources == {}


def machine_code(compiler: str, *options: str) -> set[str]:
    return {opcode for opcode, _ in instructions(building.build(DOUBLIFY, compiler, options=options).code)}


@pytest.mark.parametrize("compiler", building.COMPILERS)
def test_options_reach_the_compiler_and_what_cupy_adds_changes_the_machine_code(compiler: str) -> None:
    plain = machine_code(compiler)
    assert "FADD" in plain and "FADD.FTZ" not in plain and "FMUL" not in plain, "2 * x is x + x"
    assert "FMUL" in machine_code(compiler, "-DFACTOR=3")
    assert "FADD.FTZ" in machine_code(compiler, *ADDED[compiler])


@pytest.mark.parametrize("compiler", building.COMPILERS)
def test_cuda_headers_and_cub_are_found(compiler: str, tmp_path: Path) -> None:
    kernel = tmp_path / "with_headers.cuh"
    kernel.write_text(
        "#include <cuda_fp16.h>\n#include <cuda/std/cstdint>\n#include <cub/block/block_reduce.cuh>\n"
        '#include "beside.cuh"\nextern "C" __global__ void k(int* x) { x[0] = BESIDE; }\n'
    )
    (tmp_path / "beside.cuh").write_text("#define BESIDE 1\n")
    assert building.build(kernel, compiler).resources


@pytest.mark.parametrize("compiler", building.COMPILERS)
@pytest.mark.parametrize(
    ("text", "arch", "words", "advice"),
    [
        ("\n\n  x[0] = nonsense;", "sm_90", r'\(3\): error: identifier "nonsense"', ""),
        ('\n#include "no.cuh"\n', "sm_90", "no.cuh", "put that header beside the file"),
        ("", "sm_33", "(?i)gpu.architecture", ""),
    ],
    ids=["source", "header", "architecture"],
)
def test_errors_are_the_compilers_own_with_advice_below(
    compiler: str, text: str, arch: str, words: str, advice: str, tmp_path: Path
) -> None:
    kernel = tmp_path / "broken.cuh"
    kernel.write_text(f'extern "C" __global__ void broken(float* x) {{{text}}}')
    with pytest.raises(building.BuildError) as refused:
        building.build(kernel, compiler, arch)
    first, *log = str(refused.value).splitlines()
    assert re.fullmatch(f"(?i){compiler} could not compile broken.cuh for {arch}:", first)
    assert re.search(words, "\n".join(log))
    assert [line for line in log if "Advice: " in line] == [line for line in log[-1:] if advice and advice in line]


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("#include <cstdio>", "printf, assert and sinf need none"),
        ("#include <cub/cub.cuh>", "as <cub/block/block_reduce.cuh>, rather than <cub/cub.cuh>"),
        ('#include "mine.h"', "put that header beside the file"),
    ],
)
def test_what_nvrtc_lacks_has_advice_that_helps(line: str, advice: str, tmp_path: Path) -> None:
    kernel = tmp_path / "broken.cuh"
    kernel.write_text(f'{line}\nextern "C" __global__ void k(float* x) {{ printf("%f", sinf(*x)); }}')
    with pytest.raises(building.BuildError) as refused:
        building.build(kernel)
    assert advice in str(refused.value).splitlines()[-1]
    assert advice in refused.value.brief and "error" in refused.value.brief and "\n" not in refused.value.brief
    assert "/" not in refused.value.brief.split(": ")[0], "the file without its folders"


def test_a_program_that_nvrtc_does_not_make_is_refused_by_the_errors_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "cuda.bindings.nvrtc.nvrtcCreateProgram", lambda *_: (nvrtcResult.NVRTC_ERROR_OUT_OF_MEMORY, None)
    )
    with pytest.raises(
        building.BuildError, match=r"NVRTC could not compile doublify.cuh .*\n.*NVRTC_ERROR_OUT_OF_MEMORY"
    ):
        building.build(DOUBLIFY)


@pytest.mark.parametrize("compiler", ["nvrtc", "nvcc"])
def test_a_text_is_compiled_as_a_file_is(compiler: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FOURWAYS_CACHE_DIR", str(tmp_path))
    assert building.build(DOUBLIFY.read_text(), compiler).code == building.build(DOUBLIFY, compiler).code
    with pytest.raises(building.BuildError, match=r"kernel\.cu\(1\): error"):
        building.build('extern "C" __global__ void f() { y = 1; }', compiler)


def test_missing_compilers_come_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "nvcc", lambda: None)
    with pytest.raises(building.BuildError, match="no nvcc found: make setup$"):
        building.build(DOUBLIFY, "nvcc")
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(building.BuildError, match=r"NVRTC cannot be loaded .*: make setup$"):
        building.build(DOUBLIFY, "nvrtc")
