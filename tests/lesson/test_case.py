"""A kernel of one's own: found in its file, held to the signature, checked against a reference or the host way."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from fourways import checking, toolchain
from fourways.building import BuildError
from fourways.lesson import Case, LessonError, lesson_or_case

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
    ways = Case(file).ways()
    assert ways.kernel == "scale"
    assert "no binding" in ways.missing["pybind11"]
    (row,) = [row for row in checking.check(ways).rows if row["way"] == "host"]
    assert row["outcome"] == "right"
    x = np.arange(5, dtype=np.float32)
    assert ways.reference(x).tolist() == (x / 2).tolist()


@pytest.mark.parametrize("factor, right", [("0.5", True), ("0.6", False)])
def test_a_reference_decides(file: Path, factor: str, right: bool) -> None:
    expected = file.with_name("expected.py")
    expected.write_text(f"def half(x):\n    return {factor} * x.astype('f8')\n")
    ways = Case(file, "scale", f"{expected}:half").ways()
    if right:
        checking.check(ways)
    else:
        with pytest.raises(checking.CheckFailure, match="scale_host, size 1: element 0"):
            checking.check(ways)


def test_what_it_was_compared_with_is_said(file: Path, halving: str) -> None:
    assert Case(file).compared_with.startswith("Checked against the host way: a mistake in the kernel's idea")
    assert Case(file, reference=halving).compared_with == f"Checked against {halving}."


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
    with pytest.raises(LessonError, match="no lesson 'nothing'; there are"):
        lesson_or_case("nothing")
    with pytest.raises(
        LessonError, match="(?s)scan.cuh: scan.* cannot be called.*\nlesson 03 calls it: fourways run 03"
    ):
        lesson_or_case("scan")
    (tmp_path / "cpp" / "kernels").mkdir(parents=True)
    (tmp_path / "cpp" / "kernels" / "scale.cuh").write_text(SCALE)
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    assert lesson_or_case("scale").entry == "scale", "a kernel that no lesson is about"


def test_one_of_several_must_be_named(file: Path) -> None:
    file.write_text(SCALE + SCALE.replace("scale", "other").replace('#include "half.h"', ""))
    with pytest.raises(LessonError, match="--entry must name .* there are: scale, other"):
        Case(file)
    assert Case(file, "other").ways(["host"]).kernel == "other"


@pytest.mark.parametrize(
    "entry, text, words",
    [
        ("mine", SCALE, "no kernel 'mine' in mine.cu; there are: scale"),
        (None, SCALE.replace("long long n", "int n"), r"cannot be called here; wanted the signature\nscale\(const"),
        (None, SCALE.replace("float *y", "double *y"), "cannot be called here"),
        (None, "int x;", "there are: none"),
    ],
)
def test_what_cannot_be_called_is_said(file: Path, entry: str | None, text: str, words: str) -> None:
    file.write_text(text)
    with pytest.raises(LessonError, match=words):
        Case(file, entry)


def test_a_file_that_cannot_be_read_is_said(file: Path) -> None:
    with pytest.raises(LessonError, match="no file .*nowhere.cu: give the path of a .cu or .cuh"):
        Case(file.with_name("nowhere.cu"))
    file.write_bytes(b"// Gr\xfc\xdfe\n")
    with pytest.raises(LessonError, match=r"mine.cu is no UTF-8 text \(invalid start byte at byte 5\)"):
        Case(file)


def test_a_reference_that_is_not_there(file: Path) -> None:
    with pytest.raises(LessonError, match="no file 'expected.py'"):
        Case(file, reference="expected.py:half")
    expected = file.with_name("expected.py")
    expected.write_text("half = 3\n")
    with pytest.raises(LessonError, match="defines no function 'half'"):
        Case(file, reference=f"{expected}:half")


def test_a_reference_may_use_what_its_file_imports(file: Path) -> None:
    expected = file.with_name("expected.py")
    expected.write_text("import numpy as np\nHALF = 0.5\n\n\ndef half(x):\n    return np.multiply(x, HALF)\n")
    checking.check(Case(file, reference=f"{expected}:half").ways())


@pytest.mark.parametrize(
    "text, words",
    [
        ("import nowhere_to_be_found", "cannot be run: ModuleNotFoundError: No module named 'nowhere"),
        ("def half(x):\n    raise KeyError('why')", "the reference .*:half: KeyError: 'why'"),
        ("def half(x):\n    return x[:3]", r"the reference .*:half: ValueError: cannot reshape .* \(7,\)"),
        ("'''no Python", "cannot be run: SyntaxError"),
    ],
)
def test_a_reference_that_fails_is_said(file: Path, text: str, words: str) -> None:
    expected = file.with_name("expected.txt")
    expected.write_text(text)
    with pytest.raises(LessonError, match=words):
        Case(file, reference=f"{expected}:half").reference(np.ones(7, np.float32))


def test_launch_bounds_and_comments_are_no_kernels(file: Path) -> None:
    bounded = SCALE.replace("void scale", "void __launch_bounds__(256) scale")
    file.write_text(f"// __global__ void old(float *x)\n/* __global__ void older(float *x) */{bounded}")
    assert Case(file).entry == "scale"


@pytest.fixture
def halving(file: Path) -> str:
    """A reference that says what is right of `file`."""
    path = file.with_name("expected.py")
    path.write_text("def half(x):\n    return x / 2\n")
    return f"{path}:half"


JUDGE = "host, which says what is right where no --reference does, refused mine.cu:\n"


def test_a_kernel_that_the_host_cannot_compile_needs_a_reference(file: Path, halving: str) -> None:
    file.write_text(SCALE.replace("long long i", 'asm("");\n    long long i'))
    with pytest.raises(BuildError, match=f"{JUDGE}mine.cu has no host way: it has inline PTX"):
        Case(file).ways()
    with pytest.raises(BuildError, match=f"{JUDGE}mine.cu has no host way"):
        Case(file).reference(np.ones(3, np.float32))
    ways = Case(file, reference=halving).ways()
    assert "inline PTX" in ways.missing["host"] and "host" not in ways.functions
    assert ways.reference(np.ones(3, np.float32)).tolist() == [0.5] * 3


def test_without_a_compiler_the_host_way_is_missing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "host_compiler", lambda: None)
    monkeypatch.setattr(toolchain, "missing", lambda way: "no compiler here" if way == "host" else "no GPU")
    ways = Case(file).ways()
    assert ways.missing["host"] == "no compiler here" and not ways.functions
    with pytest.raises(BuildError, match=f"{JUDGE}no compiler here"):
        ways.reference(np.ones(3, np.float32))


class CompileException(Exception):
    """CuPy's and PyCUDA's, too, is no RuntimeError."""


@pytest.fixture
def compilers(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Stand-ins for CuPy and PyCUDA: who was `asked`, with which source and folders, and what is refused in `words`."""
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
        Case(file).ways()
    assert str(error.value).startswith(f"{way} refused mine.cu:\n{words}\nAdvice: {advice}")


def test_every_compiler_gets_the_source_and_its_folder(file: Path, compilers: SimpleNamespace) -> None:
    ways = Case(file).ways()
    assert list(ways.functions) == ["nvrtc", "nvcc", "pycuda", "host"]
    folder = str(file.parent)
    folders = {"nvrtc": f"-I{folder}", "nvcc": f"-I{folder}", "pycuda": folder}
    assert compilers.asked == [(way, SCALE, (option,)) for way, option in folders.items()]


def test_only_the_chosen_ways_are_compiled(file: Path, compilers: SimpleNamespace, halving: str) -> None:
    """So that another compiler's refusal, or its seconds, are no hindrance."""
    compilers.words["pycuda"] = "nobody asked for it"
    assert Case(file).ways(["nvrtc"]).functions.keys() == {"nvrtc"}
    file.write_text(SCALE.replace("long long i", 'asm("");\n    long long i'))  # what the host way would refuse
    assert Case(file, reference=halving).ways(["nvcc"]).functions.keys() == {"nvcc"}
    assert [way for way, *_ in compilers.asked] == ["nvrtc", "nvcc"]
