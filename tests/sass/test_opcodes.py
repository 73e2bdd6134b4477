"""Opcodes by kind: each in one group, and every one that our kernels hold."""

from pathlib import Path

import pytest

from fourways import building, kernels, sass, toolchain
from fourways.sass.opcodes import GROUPS

NAMES = [opcode for group in GROUPS.values() for opcode in group.split()]

MORE = r"""
#include <cuda_fp16.h>
#include <mma.h>
extern "C" __global__ void halves(__half2* x, float2* y) { y[0] = __half22float2(__hfma2(x[0], x[1], x[2])); }
extern "C" __global__ void maths(float* x, double* d, long long* k, unsigned* u, int n)
{
    x[0] = sinf(x[1]) + expf(x[2]) / sqrtf(x[3]);
    d[0] = sqrt(d[1]) / d[2] + fmax(d[3], exp(d[4]));
    k[0] = k[1] / k[2] + (long long)x[4] + __double2int_rn(d[5]);
    u[0] = __popc(u[1]) + __clz(u[2]) + __brev(u[3]) + __dp4a(u[4], u[5], u[6]) + __byte_perm(u[7], u[8], n);
    u[9] = __ballot_sync(~0u, n > u[0]) + __match_any_sync(~0u, u[1]) + __syncthreads_or(n);
    if (atomicAdd(&u[n], 1) == 7) __trap();
    atomicMax(n ? u : (unsigned*)k, 3);
    __threadfence_system();
    __nanosleep(n);
    printf("%f", x[0]);
}
extern "C" __global__ void tensor(const __half* a, const __half* b, float* c)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, __half, row_major> left;
    fragment<matrix_b, 16, 16, 16, __half, col_major> right;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0);
    load_matrix_sync(left, a, 16);
    load_matrix_sync(right, b, 16);
    mma_sync(sum, left, right, sum);
    store_matrix_sync(c, sum, 16, mem_row_major);
}
__device__ __noinline__ int other(int* x) { return *x; }
extern "C" __global__ void generic(int* x, int n)
{
    __shared__ int s[9];
    s[threadIdx.x] = n;
    __syncthreads();
    x[2] = other(n ? s + n : x);
}
"""


@pytest.mark.long
@pytest.mark.parametrize("arch", toolchain.ARCHITECTURES)
def test_every_kernel_compiles_for_every_architecture_and_its_opcodes_have_kinds(arch: str, tmp_path: Path) -> None:
    (tmp_path / "more.cu").write_text(MORE)
    kinds = set()
    for path in (*map(kernels.path, kernels.names()), tmp_path / "more.cu"):
        built = building.build(path, "nvrtc", arch)
        if path.name != "more.cu":
            assert set(built.resources) == set(kernels.parameters(path.read_text(encoding="utf-8"))), path.name
            assert all(0 < needs.registers <= 255 and not needs.spill_bytes for needs in built.resources.values())
        lines = sass.parse(sass.disassemble(built.code))
        assert lines and not {line.base for line in lines} - set(NAMES), path.name
        kinds |= {line.kind for line in lines}
    assert {"fp16", "fp64", "warp", "predicate", "tensor", "generic"} <= kinds
    assert "other" not in kinds


def test_kinds_of_opcodes_with_modifiers_and_of_those_that_nobody_listed() -> None:
    assert sass.kind("IMAD.MOV.U32") == "integer" and sass.kind("LDG.E") == "global"
    assert sass.kind("UNEW.X") == "uniform" and sass.kind("NEW.X") == "other"
    assert len(NAMES) == len(set(NAMES)), "no opcode is of two kinds"
