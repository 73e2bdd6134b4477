"""A kernel of one's own: found in its file, held to the signature, checked against a reference or the host way."""

from pathlib import Path

import numpy as np
import pytest

from fourways import checking, own_kernel
from fourways.building import BuildError
from fourways.lesson import LessonError

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
    ways = own_kernel.ways(file)
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
    ways = own_kernel.ways(file, "scale", f"{expected}:half")
    if right:
        checking.check(ways)
    else:
        with pytest.raises(checking.CheckFailure, match="scale_host, size 1: element 0"):
            checking.check(ways)


def test_one_of_several_must_be_named(file: Path) -> None:
    file.write_text(SCALE + SCALE.replace("scale", "other").replace('#include "half.h"', ""))
    with pytest.raises(LessonError, match="--entry must name .* there are: scale, other"):
        own_kernel.ways(file)
    assert own_kernel.ways(file, "other").kernel == "other"


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
        own_kernel.ways(file, entry)


def test_a_reference_that_is_not_there(file: Path) -> None:
    with pytest.raises(LessonError, match="no file 'expected.py'"):
        own_kernel.ways(file, reference="expected.py:half")
    expected = file.with_name("expected.py")
    expected.write_text("half = 3\n")
    with pytest.raises(LessonError, match="defines no function 'half'"):
        own_kernel.ways(file, reference=f"{expected}:half")


def test_a_reference_may_use_what_its_file_imports(file: Path) -> None:
    expected = file.with_name("expected.py")
    expected.write_text("import numpy as np\nHALF = 0.5\n\n\ndef half(x):\n    return np.multiply(x, HALF)\n")
    checking.check(own_kernel.ways(file, reference=f"{expected}:half"))


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
        own_kernel.ways(file, reference=f"{expected}:half").reference(np.ones(7, np.float32))


def test_launch_bounds_and_comments_are_no_kernels(file: Path) -> None:
    bounded = SCALE.replace("void scale", "void __launch_bounds__(256) scale")
    file.write_text(f"// __global__ void old(float *x)\n/* __global__ void older(float *x) */{bounded}")
    assert own_kernel.ways(file).kernel == "scale"


def test_a_kernel_that_the_host_cannot_compile_needs_a_reference(file: Path) -> None:
    file.write_text(SCALE.replace("long long i", 'asm("");\n    long long i'))
    with pytest.raises(BuildError, match="has no host way: it has inline PTX\nWithout the host way .*--reference"):
        own_kernel.ways(file)
    expected = file.with_name("expected.py")
    expected.write_text("def half(x):\n    return x / 2\n")
    ways = own_kernel.ways(file, reference=f"{expected}:half")
    assert "inline PTX" in ways.missing["host"] and "host" not in ways.functions


@pytest.mark.parametrize(
    "words, advice",
    [
        ("mine.cu(3): error: expected a ';'", "mend the source at the line"),
        ("CUDA_ERROR_NOT_FOUND: named symbol not found", 'declare the kernel extern "C"'),
    ],
)
def test_a_compilers_own_exception_becomes_its_words(
    file: Path, monkeypatch: pytest.MonkeyPatch, words: str, advice: str
) -> None:
    class CompileException(Exception):
        """CuPy's and PyCUDA's, too, is no RuntimeError."""

    def refuse(*_: object) -> None:
        raise CompileException(words)

    monkeypatch.setattr(own_kernel.toolchain, "missing", lambda way: None)
    monkeypatch.setattr(own_kernel, "_cupy", refuse)
    with pytest.raises(BuildError) as error:
        own_kernel.ways(file)
    assert str(error.value).startswith(f"nvrtc refused mine.cu:\n{words}\nAdvice: {advice}")


def test_only_the_chosen_ways_are_compiled(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that another compiler's refusal, or its seconds, are no hindrance."""

    def refuse(*_: object) -> None:
        raise AssertionError("nobody asked for it")

    monkeypatch.setattr(own_kernel.toolchain, "missing", lambda way: None)
    monkeypatch.setattr(own_kernel, "_cupy", lambda *arguments: arguments[-1])
    monkeypatch.setattr(own_kernel, "_pycuda", refuse)
    assert own_kernel.ways(file, chosen=["nvrtc"]).functions.keys() == {"nvrtc", "host"}, (
        "the host way says what is right"
    )
    monkeypatch.setattr(own_kernel, "_host", refuse)
    expected = file.with_name("expected.py")
    expected.write_text("def half(x):\n    return x / 2\n")
    assert own_kernel.ways(file, None, f"{expected}:half", ["nvcc"]).functions.keys() == {"nvcc"}
