"""Machine code as text and as instructions: by either of two tools the same, labels for jumps, calls by name."""

import re
from collections import Counter
from pathlib import Path

import pytest

from fourways import building, kernels, sass, toolchain

DOUBLIFY = kernels.path("doublify")
MANY = """
extern "C" __global__ void many(float* x, double* d, int* k, int n)
{
    float local[32];
    for (int i = 0; i < 32; i++) local[i] = x[i * n];
    d[threadIdx.x] = d[threadIdx.x] * d[2] + local[k[0] & 31];
    if (k[threadIdx.x] > 3) k[1] = __shfl_xor_sync(~0u, k[2], 1);
}
__device__ __noinline__ float other(float x) { return x + 1; }
__global__ void calls(float* x) { x[0] = other(x[1] / x[2]); }
"""


@pytest.fixture
def many(tmp_path: Path) -> Path:
    file = tmp_path / "many.cu"
    file.write_text(MANY)
    return file


def without(monkeypatch: pytest.MonkeyPatch, *missing: str) -> None:
    find = toolchain.program
    monkeypatch.setattr(toolchain, "program", lambda name: None if name in missing else find(name))


@pytest.mark.parametrize("arch", toolchain.ARCHITECTURES)
def test_both_tools_give_the_same_instructions(many: Path, monkeypatch: pytest.MonkeyPatch, arch: str) -> None:
    cubin = building.build(many, "nvrtc", arch).code
    by_nvdisasm = sass.disassemble(cubin)
    without(monkeypatch, "nvdisasm")
    by_cuobjdump = sass.disassemble(cubin)
    assert by_nvdisasm != by_cuobjdump
    lines = sass.parse(by_nvdisasm)
    assert lines == sass.parse(by_cuobjdump)
    # nvdisasm ends every instruction with a semicolon, also the padding's
    padding = Counter(re.findall(r"\b(NOP|BRA)\b", by_nvdisasm)) - Counter(line.base for line in lines)
    assert len(re.findall(r"^\s+/\*[0-9a-f]{4}\*/.*;", by_nvdisasm, re.MULTILINE)) == len(lines) + padding.total()
    assert not any("L_" in str(line) for line in lines)


def test_labels_for_jumps_and_no_padding_at_the_end() -> None:
    lines = sass.parse(sass.disassemble(building.build(DOUBLIFY).code))
    assert [str(line) for line in lines[-2:]] == ["@!P0 BRA L0", "EXIT"]
    assert [line.address for line in lines] == list(range(0, 16 * len(lines), 16))
    assert {line.entry for line in lines} == {"doublify"}


def test_an_instruction_in_its_parts() -> None:
    branch = sass.parse(sass.disassemble(building.build(DOUBLIFY).code))[-2]
    assert (branch.predicate, branch.opcode, branch.base, branch.operands) == ("@!P0", "BRA", "BRA", "L0")
    assert branch.kind == "control"


def test_nvdisasm_names_the_functions_that_are_called(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cubin = building.build(many).code

    def called() -> list[str]:
        return [line.target for line in sass.parse(sass.disassemble(cubin)) if line.base == "CALL"]

    division, other = called()
    assert division.startswith("$__internal_") and "div" in division and "other" in other
    without(monkeypatch, "nvdisasm")
    assert called() == ["", ""]


def test_without_tools_it_says_where_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "nvdisasm", "cuobjdump")
    with pytest.raises(sass.SassError, match="neither nvdisasm nor cuobjdump found: make setup"):
        sass.disassemble(b"")


def test_what_is_no_cubin_is_refused() -> None:
    with pytest.raises(sass.SassError, match="nvdisasm could not read the cubin:\nnvdisasm"):
        sass.disassemble(b"no ELF")
