"""A kernel has one signature, whether NVRTC, nvcc or the host's C++ compiler tells it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import told

from fourways import building, host, kernels

CASES = Path(__file__).parents[1] / "cases"
FILES = [*map(kernels.path, kernels.names()), *sorted(CASES.glob("*.cu"))]
NO_HOST_WAY = {"long_scan", "normalise", "scan"}  # they use CUB
NO_HOST_WAY |= {"first", "scale"}  # not extern "C": the host way finds them by name_expressions
NO_HOST_WAY |= {"widths"}  # uint64_t is unsigned long here, and unsigned long long for NVRTC


def told_by_host(path: Path) -> dict[str, kernels.Signature]:
    module = host.compile(path)
    return {name: module.get_function(name).signature for name in module.names}


@pytest.mark.parametrize("path", [path for path in FILES if path.stem not in NO_HOST_WAY], ids=lambda path: path.stem)
def test_all_compilers_tell_the_same(path: Path) -> None:
    assert told_by_host(path) == told.signatures(path)


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
    Inner *inner) {}
extern "C" __global__ void values(bool fast, char c, signed char s, const unsigned char u, wchar_t w, char16_t c16,
    cuda::std::int8_t i8, cuda::std::uint16_t u16, cuda::std::int32_t i32, cuda::std::uint32_t u32, long l,
    unsigned long long ull, cuda::std::size_t count, real r, double d, __half h, __nv_bfloat16 b, float2 pair,
    float4 quad, cuda::std::complex<double> z, Range range, Either either, Mode mode, Small small, dim3 extent,
    ours::Many<float, 3> many, int) {}
"""


@pytest.mark.parametrize("compiler", ["nvrtc", "nvcc"])
def test_types_of_all_kinds(tmp_path: Path, compiler: str) -> None:
    file = tmp_path / "types.cu"
    file.write_text(("#include <vector>\n" if compiler == "nvcc" else "") + TYPES)
    if compiler == "nvcc":
        with pytest.raises(building.BuildError, match="vector"):
            building.build(file, "nvrtc")
    else:
        building.build(file, "nvrtc")
    found = told_by_host(file)
    assert found == told.signatures(file)
    sizes = {each.name: each.element_size for each in found["arrays"].parameters}
    assert sizes == {"x": 4, "y": 8, "v": 4, "raw": 0, "raw_too": 0, "quads": 16, "pairs": 16, "rgb": 3, "h": 2, "b": 2,
                     "ranges": 32, "handle": 0, "z": 8, "pp": 8, "rows": 16, "argument 16": 0, "modes": 4, "many": 32,
                     "inner": 2}  # fmt: skip
    assert {each.element_size for each in found["values"].parameters} == {0}
    assert found["values"].parameters[-1].name == "argument 27"


def test_nvrtc_has_its_own_word_for_integers_of_64_bits(tmp_path: Path) -> None:
    file = tmp_path / "wide.cu"
    file.write_text(
        '#include <cuda/std/cstdint>\nextern "C" __global__ void wide(cuda::std::int64_t *y, cuda::std::uint64_t n) {}'
    )
    (by_host,), (by_nvrtc,) = told_by_host(file).values(), told.signatures(file).values()
    assert str(by_host) == "wide(long *y, unsigned long n)"
    assert str(by_nvrtc) == "wide(long long *y, unsigned long long n)"
    pairs = zip(by_host.parameters, by_nvrtc.parameters, strict=True)
    assert all(replace(one, type=other.type) == other for one, other in pairs)


def test_a_pointer_to_structs_of_numbers_wants_structs(tmp_path: Path) -> None:
    """Even where their first member is called x, as a float4's is."""
    file = tmp_path / "points.cu"
    file.write_text(
        'struct Point { float x; double t; };\nextern "C" __global__ void later(Point *p, Point by) { p->t += by.t; }\n'
    )
    later = host.compile(file).get_function("later")
    point = np.dtype([("x", "f4"), ("t", "f8")], align=True)
    points, by = np.zeros(2, point), np.array((0, 3), point)[()]
    later((1,), (1,), (points, by))
    assert points["t"].tolist() == [3, 0]
    with pytest.raises(TypeError, match=r"later, argument 1 of 2: a NumPy array is wanted, of 16 bytes an element"):
        later((1,), (1,), (np.zeros(8, np.float32), by))
    with pytest.raises(TypeError, match=r"later, argument 2 of 2: float came; Point of 16 bytes is wanted"):
        later((1,), (1,), (points, 3.0))


def test_numbers_of_libcu_and_enumerators_are_held_to_their_dtype(tmp_path: Path) -> None:
    file = tmp_path / "numbers.cu"
    file.write_text(
        "#include <cuda/std/complex>\nenum Mode : short { on, off };\n"
        'extern "C" __global__ void put(cuda::std::complex<float> *z, Mode mode) { z->real(mode); }\n'
    )
    put, z = host.compile(file).get_function("put"), np.zeros(1, np.complex64)
    put((1,), (1,), (z, 1))
    assert z[0] == 1
    with pytest.raises(TypeError, match=r"complex64\* wants a NumPy array of complex64; an array of <i8 .int64. came"):
        put((1,), (1,), (np.zeros(1, np.int64), 1))
    with pytest.raises(
        TypeError, match=r"argument 2 of 2: a number, int16, is wanted; numpy.float16 came: pass np.int16"
    ):
        put((1,), (1,), (z, np.float16(1)))


def test_a_file_may_hold_many_kernels_of_many_parameters(tmp_path: Path) -> None:
    file = tmp_path / "many.cu"
    inside = ", ".join(f"const double *x{number}" for number in range(25))
    file.write_text("".join(f'extern "C" __global__ void k{number}({inside}) {{}}\n' for number in range(60)))
    last = host.compile(file).get_function("k59").signature
    assert str(last) == f"k59({inside})"
