"""A kernel of one's own: found in its file, held to the signature, checked against a reference or the host way."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from fourways import checking, toolchain
from fourways.building import BuildError
from fourways.case import Case, on_a_gpu
from fourways.kernels import InputError
from fourways.lesson import lesson_or_case
from fourways.toolchain import preprocess
from fourways.ways import WAYS

SCALE = """
#include "half.h"
extern "C" __global__ void scale(const float *__restrict__ x, float *y, long long n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = HALF * x[i];
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "half.h").write_text("#define HALF 0.5f\n")
    path = tmp_path / "mine.cu"
    path.write_text(SCALE)
    return path


def test_the_only_kernel_is_found_and_checked_against_the_host_way(file: Path) -> None:
    ways = Case.load(file).ways()
    assert ways.kernel == "scale"
    (row,) = [row for row in checking.check(ways).rows if row["way"] == "host"]
    assert row["outcome"] == "right"
    x = np.arange(5, dtype=np.float32)
    assert ways.reference(5, x)["y"].tolist() == (x / 2).tolist()


def test_arguments_stand_in_the_kernels_order_and_none_is_left_out(file: Path) -> None:
    case, x, y = Case.load(file), np.zeros(5, np.float32), np.ones(5, np.float32)
    first, second, third = case.arguments((5, x, y))
    assert first is x and second is y and third == 5
    for values in ((5, x), (5, x, y, y)):
        with pytest.raises(ValueError):
            case.arguments(values)


@pytest.mark.parametrize("factor, right", [("0.5", True), ("0.6", False)])
def test_a_reference_decides(file: Path, factor: str, right: bool) -> None:
    expected = file.with_name("expected.py")
    expected.write_text(f"def half(x):\n    return {factor} * x.astype('f8')\n")
    ways = Case.load(file, reference=f"{expected}:half").ways(["host"])
    if right:
        checking.check(ways)
    else:
        with pytest.raises(checking.CheckFailure, match="scale_host, size 1: element 0"):
            checking.check(ways)


def test_what_it_was_compared_with_is_said(file: Path, halving: str) -> None:
    assert Case.load(file).compared_with.startswith("Checked against the host way: a mistake in the kernel's idea")
    assert Case.load(file, reference=halving).compared_with == f"Checked against {halving}."


def test_a_name_means_a_lesson_or_a_kernel(
    file: Path, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [lesson_or_case(name).slug for name in ("1", "doublify", "00_two_workflows")] == [
        "01_doublify",
        "01_doublify",
        "00_two_workflows",
    ]
    assert lesson_or_case("reduce").slug == "03_reduce_and_scan", "its kernel's name"
    assert lesson_or_case(str(file), "scale").entry == "scale"
    with pytest.raises(InputError, match="no lesson 'nothing'; there are"):
        lesson_or_case("nothing")
    with pytest.raises(InputError, match="scan: lesson 03 calls it: fourways run 03; alone it needs a --case"):
        lesson_or_case("scan")
    (tmp_path / "cpp" / "kernels").mkdir(parents=True)
    (tmp_path / "cpp" / "kernels" / "scale.cuh").write_text(SCALE.replace('#include "half.h"', "#define HALF 0.5f"))
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    assert lesson_or_case("scale").entry == "scale", "a kernel that no lesson is about"


def test_one_of_several_must_be_named(file: Path) -> None:
    file.write_text(SCALE + SCALE.replace("scale", "other").replace('#include "half.h"', ""))
    with pytest.raises(InputError, match="several kernels; --entry must name one: scale, other"):
        Case.load(file)
    assert Case.load(file, "other").ways(["host"]).kernel == "other"


@pytest.mark.parametrize(
    "entry, text, words",
    [
        ("mine", SCALE, "no kernel 'mine' in mine.cu; there are: scale"),
        (None, SCALE.replace("float *y", "const float *y").replace("y[i] =", ""), r"scale\(.*\) writes nothing"),
        (None, "int x;", "mine.cu holds no kernel: no `__global__ void` function"),
    ],
)
def test_what_cannot_be_called_is_said(file: Path, entry: str | None, text: str, words: str) -> None:
    file.write_text(text)
    with pytest.raises(InputError, match=words):
        Case.load(file, entry)


def test_a_file_that_cannot_be_read_is_said(file: Path) -> None:
    with pytest.raises(InputError, match="no file .*nowhere.cu: give the path of a .cu or .cuh"):
        Case.load(file.with_name("nowhere.cu"))


@pytest.mark.parametrize("before", [b"\xef\xbb\xbf", b"// \xa9 Gr\xfc\xdfe\n", "// © Grüße\n".encode()])
def test_a_byte_order_mark_and_an_older_encoding_are_read(file: Path, before: bytes) -> None:
    file.write_bytes(before + SCALE.encode())
    case = Case.load(file)
    case.ways(["host"])
    assert on_a_gpu(case) == (None, None)


def test_a_reference_that_is_not_there(file: Path) -> None:
    with pytest.raises(InputError, match="no file 'expected.py'"):
        Case.load(file, reference="expected.py:half")
    expected = file.with_name("expected.py")
    expected.write_text("half = 3\n")
    with pytest.raises(InputError, match="defines no function 'half'"):
        Case.load(file, reference=f"{expected}:half")


def test_a_reference_may_use_what_its_file_imports(file: Path) -> None:
    expected = file.with_name("expected.py")
    expected.write_text("import numpy as np\nHALF = 0.5\n\n\ndef half(x):\n    return np.multiply(x, HALF)\n")
    checking.check(Case.load(file, reference=f"{expected}:half").ways())


@pytest.mark.parametrize(
    "text, words",
    [
        ("import nowhere_to_be_found", "cannot be run: ModuleNotFoundError: No module named 'nowhere"),
        ("def half(x):\n    raise KeyError('why')", "the reference .*:half, line 2: KeyError: 'why'"),
        ("def half(x):\n    raise SystemExit", "the reference .*:half, line 2: SystemExit"),
        ("def half(x):\n    raise ValueError('a\\nb')", "the reference .*:half, line 2: ValueError: a b"),
        ("def half(x):\n    return x > 0, x", r"reference gives 2 arrays; scale\(.*\) wants 1: y"),
        ("'''no Python", "cannot be run: SyntaxError"),
    ],
)
def test_a_reference_that_fails_is_said(file: Path, text: str, words: str) -> None:
    expected = file.with_name("expected.txt")
    expected.write_text(text)
    with pytest.raises(InputError, match=words):
        Case.load(file, reference=f"{expected}:half").reference(7, np.ones(7, np.float32))


STRUCT = """
struct Knee { float low; double high; };
extern "C" __global__ void clip(const float *x, int *y, int n, Knee knee, bool is_low, int step) { y[0] = x[0]; }
"""
INPUTS = "import numpy as np\nsize = 'n'\ndef make_inputs(size):\n    return {}\n"
GOOD = INPUTS.format("np.ones(size, 'f4'), np.zeros((), 'V16'), True, 1")


@pytest.fixture
def clip(tmp_path: Path) -> Callable[[str], Case]:
    """Make a case with this text for a kernel with a struct, several integers and an output of integers."""
    (tmp_path / "clip.cu").write_text(STRUCT)

    def make(text: str) -> Case:
        (tmp_path / "case.py").write_text(text)
        return Case.load(tmp_path / "clip.cu", case=tmp_path / "case.py")

    return make


SIGNATURE = r"clip\(const float \*x, int \*y, int n, Knee knee, bool is_low, int step\)"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def reference(x): ...", r"case.py: defines no function make_inputs\(size\)"),
        ("make_inputs = 3", r"defines no function make_inputs\(size\)"),
        ("def (", r"case.py cannot be run: SyntaxError: .*\(case.py, line 1\)"),
        ("\nimport nowhere_to_be_found", "case.py, line 2 cannot be run: ModuleNotFoundError"),
        ("import sys\nsys.exit()", "case.py, line 2 cannot be run: SystemExit"),
        (INPUTS.format("__import__('sys').exit()"), r"make_inputs\(5\), line 4: SystemExit"),
        (INPUTS.format("1 / 0"), r"make_inputs\(5\), line 4: ZeroDivisionError: division by zero"),
        (
            INPUTS.format("np.ones(size, 'f4')"),
            f"gives 1 value; {SIGNATURE} wants 4: x, knee, is_low, step",
        ),
        (GOOD.replace("'n'", "'m'"), f"size names 'm'; of {SIGNATURE} it can be n, step"),
        (GOOD.replace("'n'", "('n', 'step')"), "size names n and step; it is one parameter"),
        (GOOD.replace("'n'", "3"), "size is a tuple of str; 3 came"),
        (GOOD.replace("size = 'n'", "size = ()").replace("True, 1", "True"), "wants 5: x, n, knee, is_low, step"),
        (GOOD.replace("np.ones(size, 'f4')", "size"), r"x: the number 5 came; const float \* wants a NumPy array"),
        (
            GOOD.replace("'f4'", "'f8'"),
            rf"x: an array of float64 came; const float \* wants float32; .* {SIGNATURE}",
        ),
        (GOOD.replace("V16", "V12"), "knee: .* of 12 bytes came; Knee of 16 bytes is wanted .*align=True"),
        (GOOD.replace("True, 1", "True, 2.5"), "step: the number 2.5 came; a whole number, int32, is wanted"),
        (GOOD.replace("True, 1", "True, 1j"), "step: the number 1j came; a whole number"),
        (GOOD.replace("True, 1", "'yes', 1"), "is_low: an object of type str came; a number, bool, is wanted"),
        (GOOD + "sizes = 1000", "sizes is a tuple of int; 1000 came"),
        (GOOD + "sizes = (2**31,)", "n: the number 2147483648 came; one from .* int32, is wanted"),
        (GOOD + "options = '-DA=1'", "options is a tuple of str; '-DA=1' came"),
        (GOOD + "rtol = 'small'", "rtol is a number, 0 or more; 'small' came"),
        (GOOD + "atol = -1", "atol is a number, 0 or more; -1 came"),
        (GOOD + "outputs = 'x'", "outputs names 'x'; .* it can be y"),
        (GOOD + "in_place = 'knee'", "in_place names 'knee'; .* it can be y"),
        (GOOD + "def launch(size): return 0, 256", r"launch\(5\): grid is \(0,\); CUDA takes 1 to"),
        (GOOD + "def launch(size): return 1, 2000", r"launch\(5\): block is \(2000,\); CUDA takes 1 to"),
        (GOOD + "def launch(size): return 1, (32, 32, 2)", "has 2048 threads; CUDA takes up to 1024"),
        (GOOD + "def launch(size): return 'a', 256", "grid is 'a'; wanted an int, or a tuple of one to three"),
        (GOOD + "def launch(size): return [1], 32", r"grid is \[1\]; wanted an int, or a tuple of one to three"),
        (GOOD + "def launch(size): return 1", r"launch\(5\) gives 1 value; wanted grid, block and, if any, shared"),
        (GOOD + "def launch(size): return 1, 32, 300000", "shared_mem is 0 to 232448 bytes; 300000 came"),
        (GOOD + "def launch(size): return size / 0, 32", r"launch\(5\), line 5: ZeroDivisionError"),
    ],
)
def test_a_case_that_cannot_be_is_one_line(clip: Callable[[str], Case], text: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        clip(text)
    assert "\n" not in str(error.value) and str(error.value).startswith("case.py")


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ("x[:, 0]", r"case.py: reference\(…\), line 6: IndexError"),
        ("(x > 0, x)", "reference gives 2 arrays; .* wants 1: y"),
        ("x", r"reference gives float32 for y; int \* wants int32"),
        ("np.int64(x.sum()) + 2**40", "reference gives 1099511627781 for y, at element 0: no int32 holds it"),
        ("x.fill(2)", r"reference\(…\), line 6: ValueError: .*read-only"),
    ],
)
def test_a_reference_that_cannot_be_is_one_line(clip: Callable[[str], Case], returned: str, words: str) -> None:
    case = clip(f"{GOOD}def reference(x, *others):\n    return {returned}\n")
    with pytest.raises(InputError, match=words) as error:
        case.reference(*case.make_inputs(5))
    assert "\n" not in str(error.value)


def test_nan_is_never_right_and_a_shape_in_place_is_the_input_s(file: Path) -> None:
    case = file.with_name("case.py")
    text = "import numpy as np\nin_place = 'y'\ndef make_inputs(size): return tuple(np.ones((2, size), 'f4'))\n"
    for right, words in (
        ("x * np.nan", "NaN for y, at element 0: NaN is never right"),
        ("x[1:]", r"shape \(4,\) for y"),
    ):
        case.write_text(f"{text}def reference(x, y): return {right}\n")
        found = Case.load(file, case=case)
        with pytest.raises(InputError, match=f"case.py: reference gives {words}"):
            found.reference(*found.make_inputs(5))


def test_a_size_that_its_type_does_not_hold_is_said_before_arrays_are_made(file: Path) -> None:
    file.write_text(SCALE.replace("long long n", "int n"))
    with pytest.raises(
        InputError, match=r"n: the number 1099511627776 came; one from .* int32, is wanted; the kernel is scale\("
    ):
        Case.load(file).make_inputs(2**40)


def test_a_launch_is_asked_at_every_size(file: Path) -> None:
    case = file.with_name("case.py")
    case.write_text("import numpy as np\ndef make_inputs(size): return np.ones(size, 'f4')\n")
    with case.open("a") as more:
        more.write("def launch(size): return -(-size // 256), 256\n")
    found = Case.load(file, case=case)
    assert found.launch(257) == ((2,), (256,), 0) and found.has_launch
    with pytest.raises(InputError, match=r"case.py: launch\(0\): grid is \(0,\)"):
        checking.check(found.ways(["host"]))


TABLE = """
extern "C" __global__ void pick(const float4 *x, const int *in, float4 *y, double2 *z, int n, float gain)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = make_float4(gain * x[in[blockIdx.x]].w, blockIdx.x, gridDim.x, x[i].x);
        z[i] = make_double2(x[i].y, x[i].z);
    }
}
"""
PICKED = """
import numpy as np

def make_inputs(size):
    return np.arange(4 * size, dtype="f4").reshape(size, 4), np.arange(-(-size // 16), dtype="i4"), 0.5

def reference(x, first, gain):
    block = np.arange(len(x)) // 16
    count = np.full(len(x), len(first))
    return np.stack([gain * x[first[block], 3], block, count, x[:, 0]], axis=1), x[:, 1:3]

sizes = (1, 33)
size = "n"
"""


@pytest.fixture
def table(tmp_path: Path) -> Callable[[str], Case]:
    (tmp_path / "table.cu").write_text(TABLE)

    def make(text: str) -> Case:
        (tmp_path / "case.py").write_text(PICKED + text)
        return Case.load(tmp_path / "table.cu", case=tmp_path / "case.py")

    return make


def test_a_launch_may_depend_on_the_inputs_and_vectors_are_an_axis(table: Callable[[str], Case]) -> None:
    case = table("def launch(_, in_, gain): return in_.shape[0], int(gain * 32)")
    assert case.launch_inputs == ("in", "gain")
    assert case.launch_of(case.make_inputs(33)) == case.launch(33, np.zeros(3), np.float32(0.5)) == ((3,), (16,), 0)
    right = case.reference(*case.make_inputs(33))
    assert {name: (each.shape, each.dtype.name) for name, each in right.items()} == {
        "y": ((33, 4), "float32"),
        "z": ((33, 2), "float64"),
    }
    rows = checking.check(case.ways(["host"])).rows
    assert [row["outcome"] for row in rows if row["way"] == "host"] == ["right"]
    without = table("reference = None; del reference")
    blank = without.blank_outputs(*without.make_inputs(5))
    assert blank["y"].shape == (5, 4) and blank["y"].dtype == "float32" and np.isnan(blank["y"]).all()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def launch(size, inn): return 1, 16", "launch takes inn, which is none of the inputs: x, in, gain"),
        ("def launch(size, in_): return in_.size, 16", "no attribute 'size'; of an array launch sees its shape alone"),
        ("def launch(size, in_): return int(in_[0]), 16", "not subscriptable; of an array launch sees its shape alone"),
        ("def launch(size, threads=16): return 1, threads", ""),
        ("old = make_inputs\ndef make_inputs(size): return old(size)[0][:, :3], *old(size)[1:]",
         r"x: shape \(1, 3\) came; const float4 \* wants 4 along the last axis"),
        ("old = make_inputs\ndef make_inputs(size): return old(size)[0].astype('f8'), *old(size)[1:]",
         r"x: an array of float64 came; const float4 \* wants float32, 4 along the last axis"),
    ],
)  # fmt: skip
def test_a_launch_or_a_vector_that_cannot_be_is_one_line(table: Callable[[str], Case], text: str, words: str) -> None:
    if not words:
        assert table(text).launch(33) == ((1,), (16,), 0)
        return
    with pytest.raises(InputError, match=f"^case.py: .*{words}"):
        table(text)


def test_a_launch_cannot_take_a_struct(root: Path, tmp_path: Path) -> None:
    file = root / "tests" / "cases" / "softclip.cu"
    (tmp_path / "case.py").write_text(file.with_suffix(".py").read_text() + "\ndef launch(size, knee): return 1, 1\n")
    with pytest.raises(InputError, match="launch takes knee, a struct; it can take whole and real numbers, and arrays"):
        Case.load(file, case=tmp_path / "case.py")


def test_a_pointer_to_arrays_takes_elements_of_their_size(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text('extern "C" __global__ void k(const float (*x)[4], float *y, int n) { y[0] = 0; }')
    case = "import numpy as np\ndef make_inputs(size): return (np.ones((size, 4), 'f4'),)\ndef reference(x): return x"
    (tmp_path / "case.py").write_text(case)
    with pytest.raises(InputError, match=r"x: an array of float32 came; .* wants elements of 16 bytes"):
        Case.load(tmp_path / "k.cu", case=tmp_path / "case.py")


def test_a_right_answer_of_a_vector_has_its_numbers_last(table: Callable[[str], Case]) -> None:
    case = table("old = reference\ndef reference(*inputs): return old(*inputs)[0][:, :3], old(*inputs)[1]")
    with pytest.raises(InputError, match=r"reference gives shape \(5, 3\) for y; float4 \* wants 4 last"):
        case.reference(*case.make_inputs(5))


def test_a_relative_folder_of_headers_is_one_beside_the_kernel(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.with_name("headers").mkdir()
    file.with_name("half.h").rename(file.with_name("headers") / "half.h")
    case = file.with_name("case.py")
    case.write_text(
        GOOD.replace("size = 'n'", "options = ('-Iheaders',)").replace(", np.zeros((), 'V16'), True, 1", ",")
    )
    monkeypatch.chdir(file.parent.parent)
    checking.check(Case.load(file, case=case).ways(["host"]), [5])


def test_a_template_is_named_by_its_instance(file: Path) -> None:
    file.write_text(SCALE.replace('extern "C"', "template <class T>").replace("float", "T").replace("HALF", "T(0.5)"))
    with pytest.raises(InputError, match="mine.cu holds only templates; name an instance: scale<float>"):
        Case.load(file)
    case = Case.load(file, "scale<double>")
    assert case.make_inputs(5)[1].dtype == np.float64
    checking.check(case.ways(["host"]), [5])
    assert "name_expressions=('scale<double>',)" in WAYS["nvrtc"].cell(case)


def test_a_kernel_without_extern_c_is_said(file: Path) -> None:
    file.write_text(SCALE.replace('extern "C"', ""))
    with pytest.raises(BuildError, match='refused mine.cu:\nscale must be extern "C"'):
        Case.load(file).ways(["host"])


def test_launch_bounds_and_comments_are_no_kernels(file: Path) -> None:
    bounded = SCALE.replace("void scale", "void __launch_bounds__(256) scale")
    file.write_text(f"// __global__ void old(float *x)\n/* __global__ void older(float *x) */{bounded}")
    assert Case.load(file).entry == "scale"


@pytest.fixture
def halving(file: Path) -> str:
    """A reference that says what is right of `file`."""
    path = file.with_name("expected.py")
    path.write_text("def half(x):\n    return x / 2\n")
    return f"{path}:half"


def test_a_module_beside_the_case_is_no_part_of_it(clip: Callable[[str], Case], tmp_path: Path) -> None:
    (tmp_path / "helper.py").touch()
    with pytest.raises(InputError, match=r"line 1 cannot be run: .* 'helper'; a case stands alone: put what it needs"):
        clip("import helper")


def test_a_reference_too_large_for_the_dtype_is_infinite(file: Path, recwarn: pytest.WarningsRecorder) -> None:
    expected = file.with_name("expected.py")
    expected.write_text("def big(x):\n    return x.astype('f8') * 1e300\n")
    right = Case.load(file, reference=f"{expected}:big").reference(2, np.ones(2, np.float32))["y"]
    assert right.tolist() == [np.inf] * 2 and not recwarn.list


@pytest.mark.parametrize("parameter", ["const float *const *x", "float **x", "const int &x", "float (*x)(float)"])
def test_no_case_holds_addresses(parameter: str, tmp_path: Path) -> None:
    (tmp_path / "deep.cu").write_text(f'extern "C" __global__ void deep({parameter}, float *y, int n) {{}}')
    with pytest.raises(InputError, match="a case gives arrays and numbers, none of which holds an address"):
        Case.load(tmp_path / "deep.cu")


JUDGE = "host, which says what is right where no reference does, refused mine.cu:\n"


def test_a_kernel_that_the_host_cannot_compile_needs_a_reference(file: Path, halving: str) -> None:
    file.write_text(SCALE.replace("long long i", 'asm("");\n    long long i'))
    with pytest.raises(BuildError, match=f"{JUDGE}mine.cu has no host way: it has inline PTX"):
        Case.load(file).ways()
    with pytest.raises(BuildError, match=f"{JUDGE}mine.cu has no host way"):
        Case.load(file).reference(3, np.ones(3, np.float32))
    ways = Case.load(file, reference=halving).ways()
    assert "inline PTX" in ways.missing["host"] and "host" not in ways.functions
    assert ways.reference(3, np.ones(3, np.float32))["y"].tolist() == [0.5] * 3


def test_without_a_compiler_the_host_way_is_missing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preprocess, "host_compiler", lambda: None)
    for module in (toolchain, preprocess):
        monkeypatch.setattr(module, "missing", lambda need: "no compiler here" if need == "host compiler" else "no GPU")
    ways = Case.load(file).ways()
    assert ways.missing["host"] == "no compiler here" and not ways.functions
    with pytest.raises(BuildError, match=f"{JUDGE}no compiler here"):
        ways.reference(3, np.ones(3, np.float32))


class CompileException(Exception):
    """CuPy's and PyCUDA's, too, is no RuntimeError."""


@pytest.fixture
def compilers(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Stand-ins for the compilers: who was `asked`, with which source and folders, and what is refused in `words`."""
    told = SimpleNamespace(asked=[], words={})

    class Module:
        def __init__(self, way: str, source: str, *folders: str) -> None:
            told.asked.append((way, source, folders))
            if way in told.words:
                raise CompileException(told.words[way])

        def get_function(self, name: str) -> str:
            return name

    cupy, compiler = ModuleType("cupy"), ModuleType("pycuda.compiler")
    cupy.RawModule = lambda code, backend, options: Module(backend, code, *options)  # type: ignore[attr-defined]
    compiler.SourceModule = lambda source, no_extern_c, include_dirs: Module(  # type: ignore[attr-defined]
        "pycuda", source, *include_dirs
    )
    fakes = {"cupy": cupy, "pycuda.compiler": compiler}
    for name in ("cupy", "pycuda", "pycuda.autoprimaryctx", "pycuda.compiler"):
        monkeypatch.setitem(sys.modules, name, fakes.get(name, ModuleType(name)))
    built = lambda case: Module("pybind11", case.source).get_function(case.entry)  # noqa: E731
    monkeypatch.setattr(WAYS["pybind11"], "function", built)
    monkeypatch.setattr(toolchain, "missing", lambda way: None)
    monkeypatch.setattr(toolchain, "activate", lambda: None)
    return told


@pytest.mark.parametrize("way", ["nvrtc", "nvcc", "pycuda"])
@pytest.mark.parametrize(
    "words, advice",
    [
        ("mine.cu(3): error: expected a ';'", "mend the source at the line"),
        ("CUDA_ERROR_NOT_FOUND: named symbol not found", 'declare the kernel extern "C"'),
    ],
)
def test_a_compilers_own_exception_becomes_its_words(
    file: Path, compilers: SimpleNamespace, way: str, words: str, advice: str
) -> None:
    compilers.words[way] = words
    with pytest.raises(BuildError) as error:
        Case.load(file).ways()
    assert str(error.value).startswith(f"{way} refused mine.cu:\n{words}\nAdvice: {advice}")


def test_every_compiler_gets_the_source_and_its_folder(file: Path, compilers: SimpleNamespace) -> None:
    ways = Case.load(file).ways()
    assert list(ways.functions) == list(WAYS)
    folder = str(file.parent)
    folders = {"nvrtc": (f"-I{folder}",), "nvcc": (f"-I{folder}",), "pycuda": (folder,), "pybind11": ()}
    assert compilers.asked == [(way, SCALE, options) for way, options in folders.items()]


def test_only_the_chosen_ways_are_compiled(file: Path, compilers: SimpleNamespace, halving: str) -> None:
    """So that another compiler's refusal, or its seconds, are no hindrance."""
    compilers.words["pycuda"] = "nobody asked for it"
    assert Case.load(file).ways(["nvrtc"]).functions.keys() == {"nvrtc"}
    file.write_text(SCALE.replace("long long i", 'asm("");\n    long long i'))  # what the host way would refuse
    assert Case.load(file, reference=halving).ways(["nvcc"]).functions.keys() == {"nvcc"}
    assert [way for way, *_ in compilers.asked] == ["nvrtc", "nvcc"]


MAKE = "import numpy as np\n\n\ndef make_inputs(size):\n    return (np.ones(size, np.float32),)\n\n\n"
ZEROS = """
__constant__ float table[4];
__device__ int kept, limit[2];
__device__ unsigned counted;
__constant__ float one[] = {1}, two = 2;
extern "C" __global__ void scale(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i >= limit[0] && atomicAdd(&counted, 1) >= 0)
        kept = i, y[i] = HALF * x[i] * (one[0] == 1) + table[i % 4];
}
"""


def test_variables_that_nobody_fills_are_said(file: Path) -> None:
    assert Case.load(file).unfilled is None
    file.write_text(ZEROS.replace("HALF", "0.5f"))
    said = Case.load(file).unfilled
    assert said and said.startswith("table, limit hold zeros in every way: a case cannot fill it.")


@pytest.mark.parametrize(
    ("declared", "launch", "said"),
    [
        ("__launch_bounds__(64)", "1, 65", r"block \(65,\) has 65 threads; the kernel takes up to 64 by its bounds"),
        (
            "__cluster_dims__(4, 1, 1)",
            "6, 32",
            r"grid is \(6,\); the kernel takes whole clusters of \(4, 1, 1\) blocks",
        ),
        ("__block_size__((64, 1, 1), (1, 1, 1))", "1, 32", r"block is \(32,\); the kernel takes \(64, 1, 1\) alone"),
        ("", "1, 32, 227 * 1024", "with the kernel's 4096 static bytes a block has more than 232448"),
    ],
)
def test_the_kernels_own_limits_are_checked(file: Path, declared: str, launch: str, said: str) -> None:
    body = "{ __shared__ volatile float s[1024]; s[threadIdx.x] = x[0]; y[0] = s[threadIdx.x]; }"
    file.write_text(f'extern "C" __global__ void {declared} scale(const float *x, float *y, int n) {body}')
    case = file.with_name("limits.py")
    case.write_text(f"{MAKE}def launch(size):\n    return {launch}\n")
    with pytest.raises(InputError, match=said):
        Case.load(file, case=case)


def test_none_stands_for_a_name_that_is_not_there(file: Path) -> None:
    case = file.with_name("none.py")
    case.write_text(f"{MAKE}size = outputs = sizes = None\n")
    assert Case.load(file, case=case).size == "n"
