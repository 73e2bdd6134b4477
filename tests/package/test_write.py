"""A package on disk: whole or not at all, as a person would have written it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fourways import package
from fourways.case import Case
from fourways.package.error import PackageError

KERNEL = """#include "half.cuh"
#include <cuda/std/limits>
template <class T, int factor> __global__ void scale(const T *__restrict__ x, T *__restrict__ y, int n)
{
    extern __shared__ T buffer[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = HALF * factor * (buffer[threadIdx.x] = x[i]);
}
"""
CASE = '''"""A case."""

import math

import numpy as np

options = ("-DHALF=0.5f", "-std=c++20")
THREADS = 128  # a block
UNUSED = "nobody copies this"


def blocks(size):
    return max(1, math.ceil(size / THREADS))


def make_inputs(size):
    return np.arange(size, dtype=np.float32)


def reference(x):
    """Twice x."""
    return 2 * x


def launch(size):
    return blocks(size), THREADS, 4 * THREADS
'''
LAUNCH = '''"""Grid, block and shared memory of a launch."""

import math

THREADS = 128  # a block


def blocks(size):
    return max(1, math.ceil(size / THREADS))


def launch(size):
    return blocks(size), THREADS, 4 * THREADS
'''


@pytest.fixture
def case(tmp_path: Path) -> Case:
    (tmp_path / "half.cuh").write_text("// of HALF\n")
    (tmp_path / "mine.cu").write_text(KERNEL)
    (tmp_path / "case.py").write_text(CASE)
    return Case.load(tmp_path / "mine.cu", "scale<float, 4>", case=tmp_path / "case.py")


def test_the_kernel_and_the_case_are_carried_over(case: Case, root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "double_it"
    package.write(case, "double_it", folder)
    texts = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
    assert texts["src/kernel/mine.cu"] == KERNEL and texts["src/kernel/half.cuh"] == "// of HALF\n"
    assert texts["tests/case.py"] == CASE and texts["src/double_it/_launch.py"] == LAUNCH
    call = "::scale<float, 4><<<grid, block, shared, on>>>(\n        x,\n        y,\n        n);"
    assert call in texts["src/double_it.cu"]
    assert "cudaFuncSetAttribute(::scale<float, 4>" in texts["src/double_it.cu"]
    assert '"$<$<COMPILE_LANGUAGE:CUDA>:-DHALF=0.5f>"' in texts["CMakeLists.txt"]
    assert "cuda_std_20" in texts["CMakeLists.txt"] and "std=c++20" not in texts["CMakeLists.txt"]
    assert '"cuda-toolkit[nvcc,cudart,cccl]==13.0.*"' in texts["pyproject.toml"]
    assert 'description = "Twice x."' in texts["pyproject.toml"] and "dependencies = []" in texts["pyproject.toml"]
    assert texts["src/glibc/bits/mathcalls.h"] == (root / "cpp/glibc/bits/mathcalls.h").read_text()
    assert "MIT License" in texts["src/arrays/LICENSE"] and texts["src/double_it/py.typed"] == ""
    assert not [path for path, text in texts.items() if "{%" in text or "import fourways" in text]


def test_the_help_says_which_arrays_change(root: Path, tmp_path: Path) -> None:
    file = root / "tests" / "cases" / "axpy.cu"
    package.write(Case.load(file, case=file.with_suffix(".py")), "my_axpy", tmp_path / "my_axpy")
    (text,) = (tmp_path / "my_axpy" / "src" / "my_axpy").glob("__init__.py")
    described = [line.split() for line in text.read_text().splitlines() if line.split()[:1] in (["x"], ["y"])]
    assert {words[0]: words[-2:] == ["in", "place"] for words in described} == {"x": False, "y": True}


@pytest.mark.long
def test_python_is_as_formatters_and_type_checkers_want_it(root: Path, tmp_path: Path) -> None:
    names = []
    for file in sorted((root / "tests" / "cases").glob("*.cu")):
        names.append(f"my_{file.stem}")
        package.write(Case.load(file, case=file.with_suffix(".py")), names[-1], tmp_path / names[-1])
    assert len(names) > 10
    for words in (["check", "--select", "E,F,W,I,B,UP,SIM,RUF", "--line-length", "120"], ["format", "--check"]):
        for name in names:  # one by one: the settings of a folder are those of its own pyproject.toml
            done = subprocess.run(
                [Path(sys.executable).with_name("ruff"), *words, "src", f"tests/test_{name}.py"],
                cwd=tmp_path / name, capture_output=True, text=True,
            )  # fmt: skip
            assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
    sources = [str(tmp_path / name / "src" / name) for name in names]
    words = ["--config-file", "", "--cache-dir", str(tmp_path / "cache"), "--python-version", "3.11", *sources]
    done = subprocess.run([sys.executable, "-m", "mypy", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "name, told",
    [
        ("soft-clip", "cannot be imported"),
        ("2fast", "cannot be imported"),
        ("_private", "cannot be imported"),
        ("lambda", "cannot be imported"),
        ("", "cannot be imported"),
        ("größe", "cannot be imported"),
        ("copy", "would hide the module copy"),
        ("numpy", "would hide the module numpy"),
        ("case", "would hide the module case"),
        ("kernel", "has a meaning inside the package"),
        ("getattr", "has a meaning inside the package"),
        ("clip_", "no _ last"),
    ],
)
def test_a_bad_name_is_refused(name: str, told: str, case: Case, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=told):
        package.write(case, name, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_folder_that_is_not_free_is_left_as_it_is(case: Case, tmp_path: Path) -> None:
    before = {path: path.read_text() for path in tmp_path.iterdir()}
    for folder, told in (
        (tmp_path, "is not empty: name a new folder, or one that"),
        (tmp_path / "mine.cu", "is a file"),
        (tmp_path / "a" / "b", "there is no folder .*/a: make it first"),
        (Path("/proc/new"), "nothing can be written in /proc"),
    ):
        with pytest.raises(ValueError, match=told):
            package.write(case, "double_it", folder)
    assert {path: path.read_text() for path in tmp_path.iterdir()} == before
    (tmp_path / "empty").mkdir()
    package.write(case, "double_it", tmp_path / "empty")
    assert (tmp_path / "empty" / "pyproject.toml").is_file()


@pytest.mark.parametrize(
    "old, new, told",
    [
        ("def reference", "def reverence", "case.py defines no reference"),
        ("    return blocks(size), THREADS", "    return eval('blocks')(size), THREADS", "launch cannot stand alone"),
        ("np.arange(size,", "np.arange(open(__file__[:-7] + 'half.cuh').close() or size,", "cannot be run elsewhere"),
    ],
)
def test_a_case_that_lacks_something_leaves_nothing(old: str, new: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "half.cuh").write_text("")
    (tmp_path / "mine.cu").write_text(KERNEL)
    (tmp_path / "case.py").write_text(CASE.replace(old, new))
    case = Case.load(tmp_path / "mine.cu", "scale<float, 4>", case=tmp_path / "case.py")
    with pytest.raises(PackageError, match=told):
        package.write(case, "double_it", tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__") == [
        "case.py", "half.cuh", "mine.cu",
    ]  # fmt: skip


def test_a_case_is_executed_once_and_its_copy_once(case: Case, tmp_path: Path) -> None:
    runs = f"\nwith open({str(tmp_path / 'runs')!r}, 'a') as runs:\n    runs.write(__file__ + '\\n')\n"
    (tmp_path / "case.py").write_text(CASE + runs)
    package.write(Case.load(tmp_path / "mine.cu", "scale<float, 4>", case=tmp_path / "case.py"), "k", tmp_path / "new")
    own, copy = (tmp_path / "runs").read_text().splitlines()
    assert own == str(tmp_path / "case.py") and copy.endswith("/new/tests/case.py")


def test_without_a_case_there_is_no_package(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text('extern "C" __global__ void k(const float *x, float *y, int n) {}')
    with pytest.raises(PackageError, match=r"--case my_case\.py; `fourways case k\.cu` writes one"):
        package.write(Case.load(tmp_path / "k.cu"), "double_it", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_header_above_the_kernel_is_refused(case: Case, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "mine.cu").write_text(KERNEL.replace("half.cuh", "../half.cuh"))
    above = Case.load(tmp_path / "deep" / "mine.cu", "scale<float, 4>", case=tmp_path / "case.py")
    with pytest.raises(PackageError, match="copy that header beside the kernel first"):
        package.write(above, "double_it", tmp_path / "new")


@pytest.mark.parametrize(
    "comment, told",
    [
        ("// scale: gain * (x + bias), bent softly — twice", "gain * (x + bias), bent softly — twice."),
        ("// Half of x.\n// And more.", "Half of x."),
        ("// Half\n// of x", "Half of x."),
        ("// SPDX-License-Identifier: MIT\n\n/** Half of x.\n * Fast. */", "Half of x."),
        ("// " + "Half of x, or " * 9, "Half of x, or Half of x, or Half of x, or Half of x, or Half of x."),
        ("// Half of x; that is, " + "half " * 20, "Half of x."),
        ("// " + "half " * 15 + "half", "half " * 15 + "half."),
        ("// " + "half " * 15 + "halfs", "The CUDA kernel scale."),  # a line of 80 characters is too long
        ("// one\\two", "The CUDA kernel scale."),
        ("", "The CUDA kernel scale."),
    ],
)
def test_the_first_comment_is_the_summary(comment: str, told: str, tmp_path: Path) -> None:
    kernel = "__global__ void scale(const float *x, float *y, int n) {}"
    (tmp_path / "mine.cu").write_text(f"{comment}\n{kernel} // no comment of the file\n")
    (tmp_path / "case.py").write_text(CASE[: CASE.index("def launch")].replace('"""Twice x."""', ""))
    case = Case.load(tmp_path / "mine.cu", case=tmp_path / "case.py")
    package.write(case, "double_it", tmp_path / "new")
    for file in ("src/double_it/__init__.py", "pyproject.toml", "README.md"):
        assert told in (tmp_path / "new" / file).read_text(encoding="utf-8")


def test_a_package_is_not_called_as_a_parameter(case: Case, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'x' has a meaning inside the package: take another name"):
        package.write(case, "x", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_the_kernels_text_is_carried_as_it_is(case: Case, tmp_path: Path) -> None:
    (tmp_path / "half.cuh").write_bytes("// größe\r\n".encode())
    package.write(case, "double_it", tmp_path / "new")
    assert (tmp_path / "new/src/kernel/half.cuh").read_bytes() == "// größe\r\n".encode()
    (tmp_path / "half.cuh").write_bytes("// größe\n".encode("latin-1"))
    with pytest.raises(PackageError, match=r"half\.cuh is no UTF-8 text"):
        package.write(case, "double_it", tmp_path / "other")


def texts(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_a_package_is_written_anew_but_for_what_was_edited(case: Case, tmp_path: Path) -> None:
    folder = tmp_path / "double_it"
    package.write(case, "double_it", folder)
    first = texts(folder)
    assert package.write(case, "double_it", folder)[1] == [] and texts(folder) == first
    (folder / "README.md").write_text("mine")
    (folder / "src/kernel/mine.cu").write_text(KERNEL.replace("HALF", "2 * HALF"))  # and the same in its own place
    (folder / "LICENSE").write_text("mine")
    (folder / "CMakeLists.txt").unlink()
    (tmp_path / "mine.cu").write_text(KERNEL.replace("HALF", "2 * HALF"))
    (tmp_path / "case.py").write_text(CASE.replace("Twice x", "Two x"))
    (tmp_path / "mine.cu").write_text(KERNEL.replace("HALF", "2 * HALF").replace('#include "half.cuh"\n', ""))
    changed = Case.load(tmp_path / "mine.cu", "scale<float, 4>", case=tmp_path / "case.py")
    for _ in range(2):  # what is kept stays known as edited
        assert package.write(changed, "double_it", folder)[1] == ["README.md", "src/kernel/mine.cu"]
        now = texts(folder)
        assert now["README.md"] == now["LICENSE"] == "mine" and "half.cuh" in now["src/kernel/mine.cu"]
        assert "Two x" in now["src/double_it/__init__.py"] and now["CMakeLists.txt"].startswith("# The extension")
        assert "src/kernel/half.cuh" not in now, "what no kernel includes any more"
    assert package.write(changed, "double_it", folder, force=True)[1] == []
    now = texts(folder)
    assert "Two x" in now["README.md"] and "half.cuh" not in now["src/kernel/mine.cu"] and now["LICENSE"] == "mine"


def test_an_update_that_fails_changes_nothing(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "double_it"
    package.write(case, "double_it", folder)
    first = texts(folder)
    (tmp_path / "case.py").write_text(CASE.replace("Twice x", "Two x"))
    changed = Case.load(tmp_path / "mine.cu", "scale<float, 4>", case=tmp_path / "case.py")
    rename = Path.rename

    def full(source: Path, target: Path) -> Path:
        if target == folder / "pyproject.toml" and source.parent.name == "double_it":  # no way back
            raise OSError(28, "No space left on device")
        return rename(source, target)

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(PackageError, match=r"double_it cannot be written \(No space left"):
        package.write(changed, "double_it", folder)
    assert texts(folder) == first and sorted(path.name for path in tmp_path.iterdir() if path.name[0] == ".") == []
    monkeypatch.undo()
    with pytest.raises(ValueError, match="holds the package double_it, not twice: name a new folder"):
        package.write(case, "twice", folder)
    (folder / ".fourways.json").write_text("[]")
    with pytest.raises(ValueError, match=r"\.fourways\.json cannot be understood: name a new folder"):
        package.write(case, "double_it", folder)


def test_a_kernel_may_have_many_parameters(tmp_path: Path) -> None:
    many = ", ".join(f"const float *x{number}" for number in range(16))
    (tmp_path / "k.cu").write_text(f'extern "C" __global__ void k({many}, float *y, int n) {{}}')
    inputs = "import numpy as np\ndef make_inputs(size): return (np.ones(size, 'f4'),) * 16\n"
    (tmp_path / "case.py").write_text(f"{inputs}def reference(x, *_): return x")
    package.write(Case.load(tmp_path / "k.cu", case=tmp_path / "case.py"), "k", tmp_path / "new")
    assert all(f'"x{number}"_a' in (tmp_path / "new/src/k.cpp").read_text() for number in range(16))


@pytest.mark.parametrize("stem", ["softclip", "drift", "within", "forces"])
def test_its_tests_compare_as_the_case_says(stem: str, root: Path, tmp_path: Path) -> None:
    """An answer within the tolerance passes, one beyond it does not; of structs each field by itself, no gaps."""
    text = (root / "tests/cases" / f"{stem}.py").read_text()
    (tmp_path / "case.py").write_text(f"{text}\nrtol, atol = 0.01, 0.5\n")
    case = Case.load(root / "tests/cases" / f"{stem}.cu", case=tmp_path / "case.py")
    package.write(case, "made", tmp_path / "made")
    tests = (tmp_path / "made/tests/test_made.py").read_text()
    compare: dict = {}
    exec("import numpy as np\n" + tests[tests.index("def compare") :].partition("\n\n\n")[0], compare)
    for right in case.reference(*case.make_inputs(33)).values():
        fields = right.dtype.names or ("",)
        for field in fields:
            for much, passes in ((0.4, True), (4, False)):
                got = np.frombuffer(bytes(255 for _ in right.tobytes()), right.dtype).reshape(right.shape).copy()
                for each in fields:
                    (got[each] if each else got)[...] = right[each] if each else right
                changed = got[field] if field else got
                if changed.dtype.kind != "f":
                    continue
                changed += much * (1 + np.abs(changed) * (not passes))
                if passes:
                    compare["compare"](got, right)
                else:
                    with pytest.raises(AssertionError):
                        compare["compare"](got, right)
