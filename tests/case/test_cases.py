"""The kernels of tests/cases, of different signatures: small cases, right by the host way, and cells to be copied."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from fourways import building, checking, cli
from fourways.case import Case, skeleton
from fourways.case.file import CaseError
from fourways.ways import WAYS

CASES = sorted(Path(__file__).parents[1].joinpath("cases").glob("*.cu"))
FITTING = ["heat", "julia", "rotate", "scale_half", "softclip", "within"]
"""Those that are called as a skeleton guesses: arrays of `size` elements, and an element a thread."""

SAID = {
    "axpy": "host way leaves NaN in y, at element 0: does the kernel read it",
    "drift": r'host way leaves NaN in particles, at element 0: .* in_place = "particles"',
}


def case_of(name: str) -> Case:
    path = CASES[0].with_name(f"{name}.cu")
    return Case.load(path, case=path.with_suffix(".py"))


@pytest.mark.parametrize("name", [path.stem for path in CASES])
def test_a_small_case_is_right_by_the_host_way(name: str) -> None:
    case = case_of(name)
    assert case.file and case.has_reference
    lines = [line for line in case.file.read_text().splitlines() if line.strip()]
    assert len(lines) <= 15, "short enough to be copied"
    ways = case.ways(["host"])
    assert not ways.missing.get("host")
    (row,) = [row for row in checking.check(ways).rows if row["way"] == "host"]
    assert row["outcome"] == "right" and row["sizes"] == len(case.sizes or checking.SIZES)
    assert building.build(case.path, "nvrtc", options=case.options).resources.keys() == {name}


def test_signatures_are_of_many_kinds() -> None:
    found = [case_of(path.stem).signature.parameters for path in CASES]
    assert len({tuple((each.kind, each.type) for each in parameters) for parameters in found}) == len(CASES) >= 12
    dtypes = {each.dtype for parameters in found for each in parameters}
    assert {"bool", "uint8", "int16", "int32", "int64", "uint64", "float16", "float64", "complex64", None} <= dtypes
    assert case_of("julia").signature.parameters[0].type == "const cuda::std::complex<double> *"


@pytest.mark.long
def test_complex_numbers_of_thrust(tmp_path: Path) -> None:
    """Which NVRTC does not compile: nvcc tells the signature."""
    file = tmp_path / "square.cu"
    file.write_text(
        '#include <thrust/complex.h>\nextern "C" __global__ void square(const thrust::complex<double> *z, '
        "thrust::complex<double> *w, int n) { for (int i = 0; i < n; ++i) w[i] = z[i] * z[i]; }\n"
    )
    case = Case.load(file)
    assert case.signature.parameters[0].type == "const thrust::complex<double> *"
    inputs = case.make_inputs(5)
    np.testing.assert_allclose(case.reference(*inputs)["w"], inputs[1] ** 2)


def test_the_size_is_found_or_named() -> None:
    sizes = {name: case_of(name).size for name in ("softclip", "histogram", "column_sums", "within", "blur", "product")}
    named = {"column_sums": "rows", "within": "n", "blur": None, "product": None}
    assert sizes == {"softclip": "n", "histogram": "n"} | named


def test_in_place_the_input_before_is_not_the_output_after() -> None:
    case = case_of("axpy")
    size, a, x, y = inputs = case.make_inputs(33)
    assert (size, size.dtype, a.dtype) == (33, np.int64, np.float32)
    before, written = y.copy(), y.copy()
    case.function("host")(*inputs, written)
    np.testing.assert_array_equal(y, before)
    np.testing.assert_allclose(written, before + a * x, rtol=1e-6, atol=1e-6)
    assert case.starts == {0: 3}
    twice = case.ways(["host"])
    twice.functions["host"] = lambda *values: [case.function("host")(*values) for _ in range(2)]
    with pytest.raises(checking.CheckFailure, match="axpy_host, size 1: element 0 is"):
        checking.check(twice)


def test_several_outputs_are_told_by_their_names() -> None:
    case = case_of("minmax")
    ways = case.ways(["host"])

    def swapped(n: int, x: np.ndarray, least: np.ndarray, greatest: np.ndarray) -> None:
        case.function("host")(n, x, greatest, least)

    ways.functions["host"] = swapped
    with pytest.raises(checking.CheckFailure, match="minmax_host, size 0: least: element 0 is -inf, expected inf"):
        checking.check(ways)
    ways.functions["host"] = lambda n, x, least, greatest: least.base.fill(0)
    with pytest.raises(checking.CheckFailure, match="size 0: wrote outside the output array least: element -4096 of 1"):
        checking.check(ways)


def test_a_wrong_field_of_a_struct_is_told_by_its_name() -> None:
    case = case_of("drift")
    ways = case.ways(["host"])

    def stops(n: int, before: np.ndarray, seconds: float, particles: np.ndarray) -> None:
        case.function("host")(n, before, seconds, particles)
        particles["vy"] = 0

    ways.functions["host"] = stops
    with pytest.raises(
        checking.CheckFailure, match="size 31: field vy: element 1 is 0.0, expected -1.0; 30 of 31 wrong"
    ):
        checking.check(ways)


def test_more_shared_memory_than_a_block_gets_unasked() -> None:
    assert "kernel.max_dynamic_shared_size_bytes = shared" in WAYS["nvcc"].cell(case_of("reverse"))
    assert "MAX_DYNAMIC_SHARED_SIZE_BYTES, shared" in WAYS["pycuda"].cell(case_of("reverse"))
    assert "shared_size" not in WAYS["nvrtc"].cell(case_of("softclip")).lower()


@pytest.mark.long
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_skeleton_of_each_is_python_and_runs_where_its_guess_is_right(path: Path, tmp_path: Path) -> None:
    signature = building.signatures(path)[path.stem]
    file = tmp_path / f"{path.stem}_case.py"
    file.write_text(skeleton(signature, path.read_text()))
    case = Case.load(path, case=file)
    inputs = case.make_inputs(33)
    if path.stem in FITTING:
        checking.check(case.ways(["host"]), [1, 33, 1009])
    elif path.stem in SAID:
        with pytest.raises(CaseError, match=SAID[path.stem]):
            case.reference(*inputs)


def test_skeletons_are_clean(tmp_path: Path) -> None:
    wide = tmp_path / "wide.cu"
    wide.write_text(
        'struct Pair { float a, b; };\nextern "C" __global__ void wide_and_long(const float *in, const bool *lambda, '
        "const Pair *pairs, const short *rng, float *np, float size, bool is_it_so, float2 z, "
        "Pair a_structure_by_value, double a_number_with_a_long_name, unsigned long long number_of_all_elements) {}\n"
    )
    for path in (*CASES, wide):
        (signature,) = building.signatures(path).values()
        (tmp_path / f"{path.stem}_case.py").write_text(skeleton(signature, path.read_text()))
    Case.load(wide, case=tmp_path / "wide_case.py").make_inputs(5)
    configured = ["--config", str(Path(__file__).parents[2] / "pyproject.toml"), str(tmp_path)]
    done = subprocess.run([sys.executable, "-m", "ruff", "check", *configured], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


STRUCTS = """
struct Particle { float3 x; float mass, charge; double v[2]; unsigned char kind; }; // 48 bytes, 7 of them a gap
typedef struct { unsigned short a; int32_t b; } Pair;
struct Either { int a; union { int b; float c; }; };
struct Wide { float a; double2 b; };
struct Knee { float low; double high; long long more; };
"""
BODY = "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; if (i < n) "
SKELETONS = {
    "vectors": ("const float4 *x, float4 *y", "y[i] = x[i]", "(size, 4)).astype(np.float32)"),
    "doubles": ("const double2 *x, double2 *y", "y[i] = x[i]", "np.complex128"),
    "wholes": ("const uint3 *x, uint3 *y, int4 by", "y[i].z = x[i].x + by.w, y[i].x = y[i].y = 1", "(size, 3))"),
    "indices": ("const float *x, const int *neighbour, float *y", "y[i] = x[neighbour[i]]", "max(size, 1), size"),
    "few": ("const float *x, const unsigned short *cell, float *y", "y[i] = x[cell[i]]", "2**15), size"),
    "structs": ("const Particle *x, Particle *y", "y[i] = x[i]", '("x", "float32", (3,)), ("mass", "float32"), ('),
    "pairs": ("const Pair *x, Pair *y, float *z", "y[i] = x[i], z[i] = x[i].b", '[("a", "uint16"), ("b", "int32")]'),
    "by_value": ("Knee knee, float *y", "y[i] = knee.low", "np.zeros((), Knee)"),
    "unknown": ("const Either *x, Wide wide, Either *y, float *z", "y[i] = x[i], z[i] = wide.a", '"V8")'),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == "structs" else [pytest.mark.long]) for name in SKELETONS]
)
def test_a_skeleton_runs_at_once(name: str, tmp_path: Path) -> None:
    """Vector types, structs with and without fields that the text tells, indices: also at size 0."""
    parameters, body, said = SKELETONS[name]
    file, case = tmp_path / "mine.cu", tmp_path / "mine_case.py"
    file.write_text(f'{STRUCTS}extern "C" __global__ void {name}({parameters}, long long n) {{ {BODY} {{ {body}; }} }}')
    assert CliRunner().invoke(cli.app, ["case", str(file)]).exit_code == 0
    assert said in " ".join(case.read_text().split())
    done = CliRunner().invoke(cli.app, ["check", str(file), "--case", str(case), "--way", "host"])
    assert done.exit_code == 0 and "right" in done.stdout, done.stderr


def test_fields_that_do_not_fill_the_struct_are_not_told(tmp_path: Path) -> None:
    """The compiler's size decides: of a packed struct, or where a macro decides what is compiled."""
    file = tmp_path / "mine.cu"
    kernel = 'extern "C" __global__ void mine(const S *x, S *y, long long n) {}'
    for struct, told in {
        "struct S { char a; int b; };": True,
        "#pragma pack(1)\nstruct S { char a; int b; };\n#pragma pack()\n": False,
        "#if 0\nstruct S { int a; };\n#else\nstruct S { int a, b; };\n#endif\n": False,
        "enum E { one };\nstruct S { E a; int b; };": False,
        "struct S { int a; int f() { return a; } };": False,
    }.items():
        file.write_text(f"{struct}\n{kernel}")
        (signature,) = building.signatures(file).values()
        assert ("np.zeros(size, S)" in skeleton(signature, file.read_text())) == told, struct
