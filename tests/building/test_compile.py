"""What NVRTC and nvcc make of a kernel, and errors as the compilers wrote them, with advice."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from machine_code import instructions

from fourways import building, kernels, toolchain
from fourways.building.compile import is_entry

DOUBLIFY = kernels.path("doublify")
ADDED = {"nvrtc": ["-ftz=true", "--device-as-default-execution-space"], "nvcc": ["-ftz=true"]}
"""The options that CuPy 14's `RawModule` adds to ours."""


@pytest.mark.parametrize("compiler", building.COMPILERS)
def test_ptx_is_text_for_the_asked_architecture(compiler: str) -> None:
    built = building.build(DOUBLIFY, compiler, "sm_80", "ptx")
    assert b".target sm_80" in built.code
    assert b".entry doublify" in built.code
    assert built.resources == {}


def machine_code(compiler: str, *options: str) -> set[str]:
    return {opcode for opcode, _ in instructions(building.build(DOUBLIFY, compiler, options=options).code)}


@pytest.mark.parametrize("compiler", building.COMPILERS)
def test_what_cupy_adds(monkeypatch: pytest.MonkeyPatch, compiler: str) -> None:
    """CuPy appends CUPY_OPTIONS to either compiler's options, besides the architecture; no driver is asked here."""
    import cupy.cuda.compiler as cupy_compiler

    seen: list[tuple[str, ...]] = []

    def stop(_: object, options: tuple[str, ...], *others: object, **more: object) -> None:
        seen.append(options)
        raise InterruptedError

    monkeypatch.setenv("CUPY_CACHE_IN_MEMORY", "1")
    monkeypatch.setattr(cupy_compiler, "_preprocess", lambda *arguments: "")
    monkeypatch.setattr(cupy_compiler, "_get_arch_for_options_for_nvrtc", lambda arch: ("-arch=sm_90", "cubin"))
    monkeypatch.setattr(cupy_compiler._NVRTCProgram, "compile", stop)
    monkeypatch.setattr(cupy_compiler, "compile_using_nvcc", stop)
    with pytest.raises(InterruptedError):
        cupy_compiler._compile_with_cache_cuda(kernels.source("doublify"), ("-DFACTOR=3",), "90", backend=compiler)
    words = [word for word in seen[0] if not word.startswith("-arch")]
    assert words == ["-DFACTOR=3", *ADDED[compiler]]


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


def test_nvrtc_without_its_second_library_says_what_is_missing() -> None:
    """libnvrtc opens libnvrtc-builtins by name, so it fails where the loader does not search their folder."""
    (library, *_) = toolchain.in_roots("lib*/libnvrtc.so.13")
    code = f"import ctypes\nctypes.CDLL({str(library)!r})\nfrom fourways import building\n"
    code += f"try:\n    building.build({str(DOUBLIFY)!r})\nexcept building.BuildError as error:\n    print(error)"
    environment = {name: value for name, value in toolchain.child_environment().items() if name != "LD_LIBRARY_PATH"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    *_, last = done.stdout.splitlines()
    assert "failed to open libnvrtc-builtins" in done.stdout
    assert "make setup" in last and "LD_LIBRARY_PATH" in last


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("#include <cstdio>", "printf, assert and sinf need none"),
        ("#include <math.h>", "printf, assert and sinf need none"),
        ("#include <cub/cub.cuh>", "as <cub/block/block_reduce.cuh>, rather than <cub/cub.cuh>"),
        ("int main() { return 0; }", "put host code into #ifndef __CUDACC_RTC__"),
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


def test_that_advice_works(tmp_path: Path) -> None:
    kernel = tmp_path / "mended.cuh"
    kernel.write_text(
        "#ifndef __CUDACC_RTC__\n#include <cstdio>\nint main() { return 0; }\n#endif\n"
        "#include <cub/block/block_reduce.cuh>\n#include <cuda/std/limits>\n"
        'extern "C" __global__ void k(float* x) { assert(x); printf("%f", sinf(*x)); }'
    )
    for compiler in building.COMPILERS:
        assert building.build(kernel, compiler).resources


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


def test_an_entry_by_its_name_as_written_or_mangled() -> None:
    assert is_entry("heavy", "heavy") and is_entry("_Z5lightPf", "light")
    assert is_entry("anything", None)
    assert not is_entry("_Z5lightPf", "ght") and not is_entry("_Z15light_or_longerPf", "light")


def test_importing_needs_neither_cupy_nor_matplotlib() -> None:
    code = "import sys, fourways.building; print({'cupy', 'pycuda', 'matplotlib', 'cuda.core'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "set()", done.stderr
