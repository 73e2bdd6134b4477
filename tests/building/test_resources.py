"""What a kernel needs, as ptxas says, of the right function."""

from pathlib import Path

import pytest

from fourways import building

HUNGRY = """
extern "C" __global__ void hungry(float* x, int n)
{
    __shared__ float tile[256];
    tile[threadIdx.x] = x[threadIdx.x]; __syncthreads();
    float v[64];
    #pragma unroll
    for (int i = 0; i < 64; i++) v[i] = x[i * n] * tile[i];
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 64; i++) x[i * n + 1] = v[i] * v[63 - i];
}
extern "C" __global__ void frugal(float* x) { *x = 1; }
"""


@pytest.fixture
def hungry(tmp_path: Path) -> Path:
    file = tmp_path / "hungry.cu"
    file.write_text(HUNGRY)
    return file


@pytest.mark.parametrize("compiler", building.COMPILERS)
def test_shared_memory_and_spills_where_the_registers_do_not_suffice(compiler: str, hungry: Path) -> None:
    free = building.build(hungry, compiler)
    tight = building.build(hungry, compiler, options=["-maxrregcount=24"])
    assert tight.resources["hungry"].registers <= 24 < free.resources["hungry"].registers
    spilling, whole = tight.resources["hungry"], free.resources["hungry"]
    assert spilling.shared_bytes == whole.shared_bytes == 1024
    assert spilling.spill_bytes >= spilling.stack_bytes > 0 == whole.spill_bytes == whole.stack_bytes


def test_each_entry_point_has_its_own(hungry: Path) -> None:
    built = building.build(hungry)
    few = built.resources["frugal"]
    assert (few.shared_bytes, few.spill_bytes) == (0, 0) and few.registers < built.resources["hungry"].registers
