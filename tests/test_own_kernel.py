"""Cases of one's own kernels: those of tests/cases are right by the host way, and each mistake is one line."""

from pathlib import Path

import numpy as np
import pytest

from fourways import building, checking, kernels, own_kernel
from fourways.kernels import NotThereError
from fourways.own_kernel import Case, CaseError
from fourways.own_kernel.builders import in_machine_code

CASES = sorted((Path(__file__).parent / "cases").glob("*.cu"))
KERNEL = (Path(__file__).parent / "data" / "mine.cu").read_text(encoding="utf-8")
CASE = """import numpy as np
Knee = np.dtype({"names": ["low", "high", "colour"], "formats": ["f4", "2f8", "4f4"], "offsets": [0, 8, 32],
                 "itemsize": 48})
constants = {"taps": np.ones(4, np.float32)}
sizes = (33,)

def arguments(size):
    return {"x": np.arange(size, dtype=np.float32), "y": None, "n": np.int32(size), "gain": np.float32(2),
            "knee": np.zeros((), Knee)}

def reference(x, gain):
    return {"y": gain * x}

def launch(size):
    return 2, 32
"""


def case_of(name: str) -> Case:
    path = CASES[0].with_name(f"{name}.cu")
    return own_kernel.read(path, path.with_suffix(".py"))


def read(folder: Path, case: str = CASE, kernel: str = KERNEL) -> Case:
    (folder / "mine.cu").write_text(kernel)
    (folder / "case.py").write_text(case)
    return own_kernel.read(folder / "mine.cu", folder / "case.py")


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case_is_right_by_the_host_way_and_compiles_for_a_gpu(path: Path) -> None:
    case = case_of(path.stem)
    (row,) = [row for row in checking.check(case.ways(["host"])).rows if row["way"] == "host"]
    assert row["outcome"] == "right" and row["sizes"] == len(case.sizes or checking.SIZES)
    assert building.build(case.source.code, "nvrtc", options=case.source.all_options).resources.keys() >= {
        case.source.symbol
    }, "found by this name in the machine code, whatever its name in the text is"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("np.float32(2)", "2.0", "gain: 2.0 has no type; write a NumPy array, or a NumPy scalar such as np.int32(5)"),
        ("np.float32(2)", "np.float64(2)", "gain: float64 came; float wants float32: write np.float32(...)"),
        ("np.int32(size)", "np.uint32(size)", "n: uint32 came; int wants int32"),
        ("dtype=np.float32)", "dtype='>f4')", "x: >f4 came; const float"),
        ('"y": None', '"y": None, "z": None', "arguments has z; mine takes x, y, n, gain, knee"),
        ("def arguments", "def argument", "it defines no function arguments; `fourways check --help` shows a case"),
        ("[0, 8, 32]", "[0, 8, 24]", "Knee has low at 0, high at 8, colour at 32, 48 bytes in all: write np.dtype("),
        ('"low", ', '"lower", ', "knee: its dtype has a field lower, Knee has none: call fields as Knee does"),
        ("np.ones(4,", "np.ones(3,", "constants: taps: 12 bytes came; the kernel's variable has 16"),
        ("np.ones(4, np.float32)", "np.ones(4, 'i4')", "constants: taps: int32 came; the kernel's taps wants float32"),
        ("gain * x}", "gain * x, 'x': x}", "reference returns x, which the kernel cannot write: const float * x"),
        ('{"y": gain * x}', "gain * x", "reference returns a dictionary: the right outputs by name"),
        ('"n": np.int32(size), ', "", "arguments lacks n; mine takes x, y, n, gain, knee (None: an array"),
        ('{"y": gain * x}', "{}", "y is None, and reference does not return it"),
        ("gain * x}", "gain * x, 'z': x}", "reference returns z; the arguments are x, y, n"),
        ("sizes = (33,)", "kernel = 'other'", "no kernel 'other' in mine.cu; there are: mine"),
        ("gain * x}", "gain * x * np.nan}", "y: reference returns NaN at element 0, and NaN is never right"),
        ("gain * x}", "gain * z}", "reference, line 12: NameError: name 'z' is not defined"),
        ("return 2, 32", "return 2, 2048", "launch(33): block is (2048,); CUDA takes 1 to (1024"),
        ("sizes = (33,)", "sizes = 33", "sizes is a tuple of int; 33 came"),
    ],
)
def test_a_mistake_in_a_case_is_one_line_with_the_cure(old: str, new: str, said: str, tmp_path: Path) -> None:
    assert old in CASE
    with pytest.raises(CaseError) as refused:
        read(tmp_path, CASE.replace(old, new))
    told = str(refused.value)
    assert told.startswith("case.py") and "\n" not in told and said in told


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(NotThereError, match="no file .*nope.cu"):
        own_kernel.read(tmp_path / "nope.cu", tmp_path / "case.py")
    with pytest.raises(NotThereError, match="no file .*nope.py; `fourways check --help` shows a case"):
        own_kernel.read(CASES[0], tmp_path / "nope.py")


def test_of_several_kernels_the_case_names_one(tmp_path: Path) -> None:
    two = KERNEL + 'extern "C" __global__ void other() {}\n'
    with pytest.raises(CaseError, match="several kernels; name one: mine, other; write, say, kernel = 'mine'"):
        read(tmp_path, kernel=two)
    assert read(tmp_path, CASE + "kernel = 'mine'\n", two).kernel == "mine"


def test_another_type_at_another_size_is_refused(tmp_path: Path) -> None:
    case = read(tmp_path, CASE.replace("np.float32(2)", "np.float32(2) if size == 33 else np.float64(2)"))
    with pytest.raises(CaseError, match=r"gain: arguments\(5\) gives another type than arguments\(33\)"):
        case.arguments(5)


def test_whole_numbers_of_a_reference_must_fit_the_kernels_type() -> None:
    case = case_of("squares")
    assert case.right(3, case.arguments(3))["y"].dtype == np.uint32, "of the reference's int64"
    with pytest.raises(CaseError, match="y: reference returns 4294967296 at element 65536; no uint32 holds it"):
        case.right(65_538, case.arguments(65_538))


def test_in_place_the_argument_keeps_what_it_held() -> None:
    case = case_of("axpy")
    size, a, x, y, _ = inputs = case.make_inputs(33)
    before, written = y.copy(), y.copy()
    case.function("host")(*inputs, written)
    np.testing.assert_array_equal(y, before)
    np.testing.assert_allclose(written, before + a * x, rtol=1e-6, atol=1e-6)
    assert case.in_place == {0: 3} and size == 33


def test_a_changed_argument_is_named(tmp_path: Path) -> None:
    kernel = (
        CASES[0].with_name("first.cu").read_text().replace("= by * x[index[i]]", "= by * x[index[i]], index[i] = 7")
    )
    case = read(tmp_path, CASES[0].with_name("first.py").read_text(), kernel)
    with pytest.raises(checking.CheckFailure, match="first_host, size 33: changed its argument index"):
        checking.check(case.ways(["host"]), [33])


def test_the_cases_own_judge_takes_any_order_and_says_what_is_wrong() -> None:
    ways = case_of("keep").ways(["host"])
    keep = ways.functions["host"]

    def another_order(*values: np.ndarray) -> None:
        keep(*values)
        values[-2][...] = values[-2][::-1].copy()

    def loses_one(*values: np.ndarray) -> None:
        keep(*values)
        values[-1][...] -= 1

    ways.functions["host"] = another_order
    checking.check(ways)
    ways.functions["host"] = loses_one
    with pytest.raises(checking.CheckFailure, match="keep_host, size 100: .* numbers were kept, expected"):
        checking.check(ways, [100])


def test_a_way_that_refuses_the_kernel_is_missing_and_the_others_go_on(tmp_path: Path) -> None:
    case = read(tmp_path, kernel=KERNEL.replace("    if (i < n)", '    asm("");\n    if (i < n)'))
    ways = case.ways(["host"])
    assert not ways.functions and ways.missing["host"].startswith("not built: host refused mine.cu")
    with pytest.raises(checking.CheckFailure) as failure:
        checking.check(ways)
    assert next(row for row in failure.value.rows if row["way"] == "host")["outcome"].startswith("not built: ")
    with pytest.raises(kernels.InputError, match="pybind11: the ways of a kernel of your own are nvrtc, nvcc, pycuda"):
        case.ways(["pybind11"])


def test_a_variable_is_found_by_its_name_in_machine_code() -> None:
    text = "namespace lab { __constant__ float taps[4]; }\n"
    code = building.build(text + 'extern "C" __global__ void k(float *y) { *y = lab::taps[3]; }').code
    assert in_machine_code("lab::taps").encode() in code and in_machine_code("taps") == "taps"


def test_constants_that_nothing_sets_are_named(tmp_path: Path) -> None:
    assert read(tmp_path).unset == ()
    assert read(tmp_path, CASE.replace("constants =", "others =")).unset == ("taps",)
