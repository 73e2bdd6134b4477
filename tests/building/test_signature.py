"""What the compiler says of a kernel's parameters, by NVRTC and, where that refuses, by nvcc. Needs no GPU."""

from pathlib import Path

import pytest
import told

from fourways import building, kernels


def written(folder: Path, text: str) -> Path:
    file = folder / "mine.cu"
    file.write_text(text)
    return file


def test_types_are_resolved_and_sizes_told(tmp_path: Path) -> None:
    text = """
#include <cuda_fp16.h>
typedef long long index;
struct Range { float low; double high; int parts[3]; };
enum Mode { on, off };
extern "C" __global__ void mine(const float *__restrict__ x, index n, Range range, Mode mode, bool fast, char c,
                                double *y, unsigned char const *bytes, const __half *h, void *raw, const float2 *z)
{
}
"""
    (found,) = told.signatures(written(tmp_path, text)).values()
    assert [(each.name, each.type, each.kind, each.size, each.dtype) for each in found.parameters] == [
        ("x", "const float *", "input", 8, "float32"),
        ("n", "long long", "scalar", 8, "int64"),
        ("range", "Range", "struct", 32, None),
        ("mode", "Mode", "scalar", 4, "int32"),
        ("fast", "bool", "scalar", 1, "bool"),
        ("c", "char", "scalar", 1, "int8"),
        ("y", "double *", "output", 8, "float64"),
        ("bytes", "const unsigned char *", "input", 8, "uint8"),
        ("h", "const __half *", "input", 8, "float16"),
        ("raw", "void *", "output", 8, None),
        ("z", "const float2 *", "input", 8, "complex64"),
    ]
    assert str(found).startswith("mine(const float *x, long long n, Range range, ")


def test_every_kernel_of_a_file_and_a_template_by_its_instances(tmp_path: Path) -> None:
    text = """
extern "C" __global__ void none() {}
template <int N, class T> __global__ void shifted(T *a, const T *b) { a[0] = b[N]; }
extern "C" __global__ void one(int *p) {}
template <> __global__ void shifted<2, int>(int *a, const int *b) {}
namespace lab { __global__ void inner(float *y, int n = (1, 2)); }
__global__ void lab::inner(float *y, int n) {}
"""
    file = written(tmp_path, text)
    assert [*map(str, told.signatures(file).values())] == ["none()", "one(int *p)", "lab::inner(float *y, int n)"]
    found = told.signatures(file, ["shifted<3, double>", "one"])
    assert str(found["shifted<3, double>"]) == "shifted<3, double>(double *a, const double *b)"


def test_limits_that_a_kernel_declares(tmp_path: Path) -> None:
    text = """
extern "C" __global__ void __launch_bounds__(((100) + 28)) __cluster_dims__(2, 1, 1) bound(float *y) {}
extern "C" __global__ void __block_size__((128, 1, 1), (2, 1, 1)) sized(int n) {}
template <int N> __global__ void __launch_bounds__(N) instance(double *p)
{
    __shared__ double s[N];
    s[threadIdx.x] = *p;
    *p = s[N - 1];
}
"""
    found = told.signatures(written(tmp_path, text), ["bound", "sized", "instance<64>"])
    assert found["bound"].limits == (128, (), (2, 1, 1), 0) and found["sized"].limits.block == (128, 1, 1)
    assert found["instance<64>"].limits == (64, (), (), 512)


def test_what_nvrtc_refuses_nvcc_is_asked(tmp_path: Path) -> None:
    text = '#include <vector>\nextern "C" __global__ void mine(float *y, unsigned n) {}\n'
    (found,) = told.signatures(written(tmp_path, text)).values()
    assert str(found) == "mine(float *y, unsigned int n)"


def test_headers_options_and_macros_of_the_file(tmp_path: Path) -> None:
    """Short names are macros in many a kernel."""
    (tmp_path / "types.h").write_text("using real = REAL;\n")
    macros = "".join(f"#define {name} double\n" for name in ("T", "A", "F", "S", "number", "kind"))
    text = '#include "types.h"\nextern "C" __global__ void mine(const T *x, real *y, int n) {}\nint main() {}\n'
    for options in (["-DREAL=float"], ["-DREAL=float", "-std=c++11", "-dlto"]):
        (found,) = told.signatures(written(tmp_path, macros + text), options=options).values()
        assert str(found) == "mine(const double *x, float *y, int n)"


def test_the_symbol_in_machine_code_is_the_compilers_own(tmp_path: Path) -> None:
    """`uint64_t` is another type for nvcc than for NVRTC."""
    file = written(tmp_path, "#include <cuda/std/cstdint>\n__global__ void mine(cuda::std::uint64_t *y) {}\n")
    assert building.told(file, "mine").symbol == building.symbol(file, "mine", (), "nvrtc") == "_Z4minePy"
    assert building.symbol(file, "mine", (), "nvcc") == "_Z4minePm"
    assert building.told(kernels.path("doublify"), "doublify").symbol == "doublify"


AMBIGUOUS = """
namespace a { __global__ void same(int *p) {} }
namespace b { __global__ void same(int *p) {} }
template <class T, int N, bool B = (N > 1)> __global__ void many(T *p) {}
"""


@pytest.mark.parametrize(
    ("text", "entries", "message"),
    [
        ("int main() {}", (), "mine.cu holds no kernel"),
        ("template <class T> __global__ void only(T *a) {}", (), r"name an instance: only<float>"),
        ('extern "C" __global__ void mine(int *p) {}', ("other",), "no kernel 'other' in mine.cu; there are: mine$"),
        (AMBIGUOUS, ("same",), "'same' can be a::same or b::same: give the whole name$"),
        (AMBIGUOUS, ("many",), "many is a template: name an instance, such as many<float, 128>$"),
        ('extern "C" __global__ void mine(flaot *p) {}', (), "flaot"),
    ],
)
def test_what_cannot_be_told(tmp_path: Path, text: str, entries: tuple[str, ...], message: str) -> None:
    with pytest.raises((building.BuildError, kernels.InputError), match=message):
        told.signatures(written(tmp_path, text), entries)


def test_a_path_that_nvccs_shell_would_read_otherwise_is_refused(tmp_path: Path) -> None:
    """By all commands, also behind a link with a harmless name."""
    fine, bad = tmp_path / "it's 100% größe; §.cu", tmp_path / "$(touch PWN).cu"
    for path in (fine, bad):
        path.write_text('extern "C" __global__ void mine(float *y) {}')
    assert str(told.signatures(fine)["mine"]) == "mine(float *y)"
    (tmp_path / "link.cu").symlink_to(bad)
    for command in (building.build, kernels.user_file, lambda given: building.build(given, "nvcc")):
        for given in (bad, tmp_path / "link.cu"):
            with pytest.raises(kernels.InputError, match=r"nvcc takes no path with .*'\$'.*; rename it"):
                command(given)
    assert not list(tmp_path.rglob("PWN"))
