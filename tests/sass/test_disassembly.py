"""Machine code as text and as instructions: labels for jumps, calls by name."""

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


@pytest.mark.parametrize("arch", toolchain.ARCHITECTURES)
def test_every_instruction_is_read(many: Path, arch: str) -> None:
    printed = sass.disassemble(building.build(many, "nvrtc", arch).code)
    lines = sass.parse(printed)
    padding = Counter(re.findall(r"\b(NOP|BRA)\b", printed)) - Counter(line.base for line in lines)
    assert len(re.findall(r"^\s+/\*[0-9a-f]{4}\*/.*;", printed, re.MULTILINE)) == len(lines) + padding.total()
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


def test_called_functions_have_names(many: Path) -> None:
    lines = sass.parse(sass.disassemble(building.build(many).code))
    division, other = (line.target for line in lines if line.base == "CALL")
    assert division.startswith("$__internal_") and "div" in division and "other" in other


def test_without_the_tool_it_says_where_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "program", lambda name: None)
    with pytest.raises(sass.SassError, match="no nvdisasm found: make setup"):
        sass.disassemble(b"")


def test_what_is_no_cubin_is_refused() -> None:
    with pytest.raises(sass.SassError, match="nvdisasm could not read the cubin:\nnvdisasm"):
        sass.disassemble(b"no ELF")
