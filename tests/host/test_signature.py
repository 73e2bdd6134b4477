"""A kernel has one signature, whether NVRTC, nvcc or the host's C++ compiler tells it."""

from pathlib import Path

import pytest

from fourways import building, host, kernels

CASES = Path(__file__).parents[1] / "cases"
FILES = [*map(kernels.path, kernels.names()), *sorted(CASES.glob("*.cu"))]
NO_HOST_WAY = {"long_scan", "normalise", "scan"}  # they use CUB


def told_by_host(path: Path) -> dict[str, kernels.Signature]:
    module = host.compile(path)
    return {name: module.get_function(name).signature for name in module.names}


@pytest.mark.parametrize("path", [path for path in FILES if path.stem not in NO_HOST_WAY], ids=lambda path: path.stem)
def test_all_compilers_tell_the_same(path: Path) -> None:
    assert told_by_host(path) == building.signatures(path)


TYPES = """
#include <cuda/std/complex>
#include <cuda/std/cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define all 1
#define size 2
using real = float;
struct Range { float low; double high; int parts[3]; };
struct Unknown;
union Either { int i; float f; };
enum Mode { on, off };
enum class Small : unsigned char { one };
namespace { struct Inner { short s; }; }
namespace ours { template <class Value, int count> struct Many { Value values[count]; }; }
extern "C" __global__ void none() {}
extern "C" __global__ void arrays(const real *__restrict__ x, double *const y, const volatile int *v, void *raw,
    const void *raw_too, const float4 *quads, double2 *pairs, uchar3 *rgb, const __half *h, __nv_bfloat16 *b,
    Range *ranges, const Unknown *handle, const cuda::std::complex<float> *z, const float *const *pp,
    const float (*rows)[4], float (*function)(int), Mode *modes, ours::Many<cuda::std::complex<double>, 2> *many,
    Inner *inner, cuda::std::int64_t *far) {}
extern "C" __global__ void values(bool fast, char c, signed char s, const unsigned char u, wchar_t w, char16_t c16,
    cuda::std::int8_t i8, cuda::std::uint16_t u16, cuda::std::int32_t i32, cuda::std::uint64_t u64, long l,
    unsigned long long ull, std::size_t count, real r, double d, __half h, __nv_bfloat16 b, float2 pair, float4 quad,
    cuda::std::complex<double> z, Range range, Either either, Mode mode, Small small, dim3 extent,
    ours::Many<float, 3> many, int) {}
"""


@pytest.mark.parametrize("compiler", ["nvrtc", "nvcc"])
def test_types_of_all_kinds(tmp_path: Path, compiler: str) -> None:
    file = tmp_path / "types.cu"
    file.write_text(("#include <vector>\n" if compiler == "nvcc" else "") + TYPES)  # which NVRTC refuses
    found = told_by_host(file)
    assert found == building.signatures(file)
    sizes = {each.name: each.element_size for each in found["arrays"].parameters}
    assert sizes == {"x": 4, "y": 8, "v": 4, "raw": 0, "raw_too": 0, "quads": 16, "pairs": 16, "rgb": 3, "h": 2, "b": 2,
                     "ranges": 32, "handle": 0, "z": 8, "pp": 8, "rows": 16, "function": 0, "modes": 4, "many": 32,
                     "inner": 2, "far": 8}  # fmt: skip
    assert {each.element_size for each in found["values"].parameters} == {0}
    assert found["values"].parameters[-1].name == "argument 27"
