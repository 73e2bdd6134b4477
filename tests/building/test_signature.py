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
"""
    file = written(tmp_path, text)
    assert [*map(str, told.signatures(file).values())] == ["none()", "one(int *p)"]
    found = told.signatures(file, ["shifted<3, double>", "one"])
    assert str(found["shifted<3, double>"]) == "shifted<3, double>(double *a, const double *b)"


def test_what_nvrtc_refuses_nvcc_is_asked(tmp_path: Path) -> None:
    text = '#include <vector>\nextern "C" __global__ void mine(float *y, unsigned n) {}\n'
    (found,) = told.signatures(written(tmp_path, text)).values()
    assert str(found) == "mine(float *y, unsigned int n)"


def test_headers_beside_the_file_and_options(tmp_path: Path) -> None:
    (tmp_path / "types.h").write_text("using real = REAL;\n")
    file = written(tmp_path, '#include "types.h"\nextern "C" __global__ void mine(real *y) {}\n')
    for real, dtype in (("float", "float32"), ("double", "float64")):
        assert told.signatures(file, options=[f"-DREAL={real}"])["mine"].parameters[0].dtype == dtype


def test_all_of_the_lessons_kernels() -> None:
    for name in ("colmeans", "saxpy", "fir"):
        path = kernels.path(name)
        found = told.signatures(path)
        names = {entry: [each.name for each in signature.parameters] for entry, signature in found.items()}
        there, _ = kernels.declared(kernels.without_directives(path.read_text()))
        assert names == {entry: kernel.parameters for entry, kernel in there.items()}


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


def test_a_parameter_with_brackets_keeps_all_names(tmp_path: Path) -> None:
    path = tmp_path / "rows.cu"
    path.write_text('extern "C" __global__ void rows(const float *x, float (*q)[4], int n) {}\n')
    (found,) = told.signatures(path).values()
    assert [each.name for each in found.parameters] == ["x", "q", "n"]


def test_pointers_and_characters_of_all_kinds(tmp_path: Path) -> None:
    text = """extern "C" __global__ void mine(const volatile float *v, const float *const *pp, float *const *p,
                                const float (*rows)[4], wchar_t w, const char16_t *c, int n = 1, float a = 1.5f) {}"""
    (found,) = told.signatures(written(tmp_path, text)).values()
    assert [(each.name, each.kind, each.dtype) for each in found.parameters] == [
        ("v", "input", "float32"),
        ("pp", "input", None),
        ("p", "input", None),
        ("rows", "input", None),
        ("w", "scalar", "int32"),
        ("c", "input", "uint16"),
        ("n", "scalar", "int32"),
        ("a", "scalar", "float32"),
    ]
    assert str(found).startswith(
        "mine(const float *v, float const* const*pp, float* const*p, float const (*) [4] rows,"
    )


@pytest.mark.parametrize(
    "name", ["it's 100% größe; §.cu", 'say "k".cu', "two\nlines.cu", "$(touch PWN).cu", "`touch PWN`/k.cu"]
)
def test_paths_of_all_kinds(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """nvcc hands them to a shell, in quotation marks: what that would read otherwise is refused for all commands."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text('extern "C" __global__ void mine(float *y) {}')
    (tmp_path / "link.cu").symlink_to(path)
    if unfit := {*'"\n$`'} & {*name}:
        commands = [building.build, kernels.user_file, lambda given: building.build(given, "nvcc")]
        for command in commands:
            for given in (path, tmp_path / "link.cu"):
                with pytest.raises(kernels.InputError, match=r"nvcc takes no path with .*; rename it") as error:
                    command(given)
                assert any(repr(sign) in str(error.value) for sign in unfit)
    else:
        assert str(told.signatures(path)["mine"]) == "mine(float *y)"
    assert not list(tmp_path.rglob("PWN"))


def test_the_files_macros_are_its_own(tmp_path: Path) -> None:
    """Short names are macros in many a kernel."""
    macros = "".join(f"#define {name} double\n" for name in ("T", "A", "F", "S", "number", "kind"))
    text = macros + 'extern "C" __global__ void mine(const T *x, A *y, int n) {}'
    (found,) = told.signatures(written(tmp_path, text)).values()
    assert str(found) == "mine(const double *x, double *y, int n)"


@pytest.mark.parametrize("option", ["-DType=float", "-Dsignature=1", "-Delement=float", "-Dof=2"])
def test_names_of_the_question_are_nobody_elses(option: str, tmp_path: Path) -> None:
    names = ("told", "argument", "kind", "show", "numbers")
    text = "template <class T> __global__ void made(T *y) {}\nstruct told_ { short s; };\n"
    text += "".join(f'extern "C" __global__ void {name}(const float *x, told_ by) {{}}\n' for name in names)
    found = told.signatures(written(tmp_path, text), [*names, "made<told_>"], [option])
    assert [str(each) for each in found.values()] == [
        *(f"{name}(const float *x, told_ by)" for name in names),
        "made<told_>(told_ *y)",
    ]


@pytest.mark.parametrize(
    "options", [["-std=c++11"], ["-std=c++03"], ["-dlto"], ["--std=c++11", "--dlink-time-opt=true"]]
)
def test_options_of_other_standards_and_for_other_outputs(tmp_path: Path, options: list[str]) -> None:
    file = written(tmp_path, 'enum E { a };\nextern "C" __global__ void mine(float2 *z, E e) {}\n')
    assert str(told.signatures(file, options=options)["mine"]) == "mine(float2 *z, E e)"


WHOLE = r"""
#define MADE(name, T) extern "C" __global__ void name##_##T(T *made) { made[0] = T(1); }
#define BOUND(a) (((a) + (31)) / (32) * (32))
#define IN(T) const T *__restrict__
#include "body.h"
extern "C" void __global__ void_first(float *y) { if (!y) printf("see *.bin or /*"); }
__global__ static void static_one(IN(float) x) {}
MADE(add, float) MADE(mul, int)
extern "C" __global__ void __launch_bounds__(BOUND(((100) + (1)))) __cluster_dims__(2, 1, 1) bound(float *y)
{ /* doubles */ }
extern "C" __global__ void __block_size__((128, 1, 1), (2, 1, 1)) sized(int n) {}
namespace lab::deep { __global__ void inner(float *y, int n = (1, 2)); }
__global__ void lab::deep::inner(float *y, int n) {}
template <int N> __global__ void __launch_bounds__(N) instance(double *p)
{
    __shared__ double s[N];
    s[threadIdx.x] = *p;
    *p = s[N - 1];
}
template <> __global__ void instance<3>(double *p) {}
#ifdef SECOND
extern "C" __global__ void either(int *second) {}
#else
extern "C" __global__ void either(float *first) {}
#endif
"""


def test_files_as_people_have_them(tmp_path: Path) -> None:
    (tmp_path / "body.h").write_text('extern "C" __global__ void in_header(float *y) {}\n')
    host_code = "int main() { float *y; cudaMalloc(&y, 4); in_header<<<1, 1>>>(y); }\n"
    found = told.signatures(written(tmp_path, WHOLE))
    assert [*map(str, found.values())] == [
        "in_header(float *y)",
        "void_first(float *y)",
        "static_one(const float *x)",
        "add_float(float *made)",
        "mul_int(int *made)",
        "bound(float *y)",
        "sized(int n)",
        "lab::deep::inner(float *y, int n)",
        "either(float *first)",
    ]
    assert found["bound"].limits == (128, (), (2, 1, 1), 0) and found["sized"].limits.block == (128, 1, 1)
    file = written(tmp_path, WHOLE + host_code)
    found = told.signatures(file, ["instance<64>", "inner", "either"], ["-DSECOND"])
    assert [*map(str, found.values())] == [
        "instance<64>(double *p)",
        "lab::deep::inner(float *y, int n)",
        "either(int *second)",
    ]
    assert found["instance<64>"].limits == (64, (), (), 512)


def test_both_compilers_say_why_and_name_the_file(tmp_path: Path) -> None:
    file = tmp_path / "two.cuh"
    file.write_text('#include <stdio.h>\n#include "my_project.h"\nextern "C" __global__ void two(float *y) {}\n')
    with pytest.raises(building.BuildError) as raised:
        told.signatures(file)
    said = str(raised.value)
    assert "stdio.h" in said and "my_project.h" in said and "two.cuh" in said and "two.cu:" not in said
    assert said.splitlines()[-1].startswith("Advice: put that header beside the file")


def test_a_kernel_that_another_unit_defines_has_no_limits(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text('extern "C" __global__ void k(const float *x, float *y, long long n);')
    signature = told.signatures(tmp_path / "k.cu")["k"]
    assert len(signature.parameters) == 3 and signature.limits == kernels.Limits()
