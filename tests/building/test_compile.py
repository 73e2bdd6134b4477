"""Every kernel by NVRTC for all architectures and by NVCC for one; errors as the compilers wrote them."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fourways import building, kernels, toolchain

KERNELS = kernels.names()


@pytest.mark.parametrize("arch", building.ARCHITECTURES)
@pytest.mark.parametrize("name", KERNELS)
def test_nvrtc_compiles_every_kernel_for_every_architecture(name: str, arch: str) -> None:
    built = building.build(kernels.path(name), "nvrtc", arch)
    assert built.arch == f"sm_{arch}"
    check_cubin(name, built)


@pytest.mark.parametrize("name", KERNELS)
def test_nvcc_compiles_every_kernel(name: str) -> None:
    check_cubin(name, building.build(kernels.path(name), "nvcc", "sm_90"))


def check_cubin(name: str, built: building.Build) -> None:
    """An ELF file with machine code of every entry point of the source, and ptxas' report on each."""
    assert built.code[:4] == b"\x7fELF"
    assert set(built.resources) == set(kernels.entry_points(kernels.source(name)))
    assert 0 < built.registers <= 255
    assert built.spill_bytes == 0
    assert built.seconds > 0
    for entry in built.resources:
        assert entry.encode() in built.code


@pytest.mark.parametrize("compiler", building.COMPILERS)
def test_ptx_is_text_for_the_asked_architecture(compiler: str) -> None:
    built = building.build(kernels.path("doublify"), compiler, "sm_80", "ptx")
    assert b".target sm_80" in built.code
    assert b".entry doublify" in built.code
    assert built.resources == {}


@pytest.mark.parametrize("compiler", building.COMPILERS)
def test_lto_ir_links_to_machine_code(compiler: str) -> None:
    """What comes out is what nvJitLink takes."""
    from cuda.core import Linker, LinkerOptions, ObjectCode

    built = building.build(kernels.path("doublify"), compiler, "90", "ltoir")
    linker = Linker(ObjectCode.from_ltoir(built.code), options=LinkerOptions(arch="sm_90", link_time_optimization=True))
    assert b"doublify" in linker.link("cubin").code


def test_both_compilers_make_the_same_machine_code() -> None:
    texts = [
        building.disassemble(building.build(kernels.path("doublify"), compiler).code) for compiler in building.COMPILERS
    ]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("compiler", building.COMPILERS)
def test_options_reach_the_compiler(compiler: str) -> None:
    plain, tripled = (
        building.disassemble(building.build(kernels.path("doublify"), compiler, options=options).code)
        for options in ((), ("-DFACTOR=3",))
    )
    assert "FADD" in plain and "FMUL" not in plain, "2 * x is x + x"
    assert "FMUL" in tripled


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
    assert [word for word in seen[0] if not word.startswith("-arch")] == [
        "-DFACTOR=3",
        *building.CUPY_OPTIONS[compiler],
    ]


@pytest.mark.parametrize("compiler", building.COMPILERS)
def test_what_cupy_adds_changes_the_machine_code(compiler: str) -> None:
    path, options = kernels.path("doublify"), building.CUPY_OPTIONS[compiler]
    assert "FADD.FTZ" in building.disassemble(building.build(path, compiler, options=options).code)
    assert "FADD.FTZ" not in building.disassemble(building.build(path, compiler).code)


def test_cuda_headers_and_cub_are_found(tmp_path: Path) -> None:
    kernel = tmp_path / "with_headers.cuh"
    kernel.write_text(
        "#include <cuda_fp16.h>\n#include <cuda/std/cstdint>\n#include <cub/block/block_reduce.cuh>\n"
        '#include "beside.cuh"\nextern "C" __global__ void k(int* x) { x[0] = BESIDE; }\n'
    )
    (tmp_path / "beside.cuh").write_text("#define BESIDE 1\n")
    for compiler in building.COMPILERS:
        assert building.build(kernel, compiler).registers > 0


def test_resources_are_those_of_the_kernel(tmp_path: Path) -> None:
    """Shared memory, and spills where the registers do not suffice."""
    kernel = tmp_path / "hungry.cuh"
    kernel.write_text(
        'extern "C" __global__ void hungry(float* x, int n) {\n  __shared__ float tile[256];\n'
        "  tile[threadIdx.x] = x[threadIdx.x]; __syncthreads();\n  float v[64];\n  #pragma unroll\n"
        "  for (int i = 0; i < 64; i++) v[i] = x[i * n] * tile[i];\n  __syncthreads();\n  #pragma unroll\n"
        "  for (int i = 0; i < 64; i++) x[i * n + 1] = v[i] * v[63 - i];\n}\n"
    )
    for compiler in building.COMPILERS:
        free = building.build(kernel, compiler)
        tight = building.build(kernel, compiler, options=("-maxrregcount=24",))
        assert free.shared_bytes == tight.shared_bytes == 1024
        assert tight.registers <= 24 < free.registers
        assert tight.spill_bytes > 0 == free.spill_bytes


@pytest.mark.parametrize("compiler", building.COMPILERS)
def test_errors_are_the_compilers_own(tmp_path: Path, compiler: str) -> None:
    kernel = tmp_path / "broken.cuh"
    kernel.write_text('extern "C" __global__ void broken(float* x)\n{\n  x[0] = nonsense;\n}\n')
    with pytest.raises(
        building.BuildError, match=r"broken.cuh for sm_90:\n(.|\n)*\(3\): error: identifier \"nonsense\""
    ):
        building.build(kernel, compiler)


@pytest.mark.parametrize(
    ("compiler", "words"), [("nvrtc", "--gpu-architecture"), ("nvcc", "Unsupported gpu architecture")]
)
def test_unknown_architecture(compiler: str, words: str) -> None:
    with pytest.raises(building.BuildError, match=f"for sm_33:\n.*{words}"):
        building.build(kernels.path("doublify"), compiler, "sm_33")


def test_a_fatbin_holds_machine_code_for_each_architecture_and_ptx_of_the_last() -> None:
    built = building.build(kernels.path("doublify"), "nvcc", "sm_75 sm_90", "fatbin")
    tool = toolchain.program("cuobjdump")
    with tempfile.NamedTemporaryFile(suffix=".fatbin") as file:
        file.write(built.code)
        file.flush()
        listed = subprocess.run([str(tool), "-lelf", "-lptx", file.name], capture_output=True, text=True).stdout
    assert re.findall(r"(sm_\d+)\.(cubin|ptx)", listed) == [("sm_75", "cubin"), ("sm_90", "cubin"), ("sm_90", "ptx")]
    with pytest.raises(ValueError, match="NVRTC makes no fatbin"):
        building.build(kernels.path("doublify"), "nvrtc", output="fatbin")


def test_unknown_compiler_and_output() -> None:
    with pytest.raises(ValueError, match="no compiler 'gcc'; there are: nvrtc, nvcc"):
        building.build(kernels.path("doublify"), "gcc")
    with pytest.raises(ValueError, match="no output 'exe'; there are: cubin, ptx, ltoir, fatbin"):
        building.build(kernels.path("doublify"), output="exe")


def test_missing_compilers_come_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "nvcc", lambda: None)
    with pytest.raises(building.BuildError, match="no nvcc found: make setup"):
        building.build(kernels.path("doublify"), "nvcc")
    building._load_nvrtc.cache_clear()
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(building.BuildError, match=r"NVRTC cannot be loaded .*: make setup"):
        building.build(kernels.path("doublify"), "nvrtc")


def test_disassemble_by_either_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    cubin = building.build(kernels.path("doublify")).code
    assert "EXIT" in building.disassemble(cubin)
    real = toolchain.program
    monkeypatch.setattr(toolchain, "program", lambda name: None if name == "nvdisasm" else real(name))
    assert "EXIT" in building.disassemble(cubin)
    monkeypatch.setattr(toolchain, "program", lambda name: None)
    with pytest.raises(building.BuildError, match="make setup"):
        building.disassemble(cubin)


def test_disassemble_refuses_what_is_no_cubin() -> None:
    with pytest.raises(building.BuildError, match="nvdisasm could not read the cubin:\nnvdisasm"):
        building.disassemble(b"no ELF")
