"""No name of a kernel's parameters, nor of a package, meets one that the generated files use."""

import builtins
import keyword
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from fourways import package
from fourways.case import Case
from fourways.kernels import Parameter, Signature

KINDS = (("input", "const float *"), ("output", "float *"), ("scalar", "int"), ("input", "const float *"),
         ("output", "float *"), ("scalar", "float"))  # fmt: skip
CPP = """and bool break case catch char class const continue default delete do double else enum explicit export extern
false float for goto if inline int long new not operator or private public register return short signed static struct
switch this throw true try union unsigned using virtual void while xor"""
CASE = """
import numpy as np

def make_inputs(size):
    return np.ones(size, "f4"), 3, np.full((size, 2), 2, "f4"), 0.5

def reference(x, count, y, by):
    return 2 * x, np.array([count + by, *([0] * len(x))], "f4")[: len(x)]

def launch(__size, {count}):
    return 1 + {count}, 256
"""


class Fake(np.ndarray):
    """Stands for a CuPy array."""

    def get(self) -> np.ndarray:
        return np.asarray(self)


def fake_cupy() -> ModuleType:
    cupy: Any = ModuleType("cupy")
    cupy.ndarray, cupy.cuda = Fake, ModuleType("cuda")
    cupy.cuda.runtime = ModuleType("runtime")
    cupy.cuda.runtime.getDeviceCount, cupy.cuda.runtime.CUDARuntimeError = int, OSError
    cupy.asarray = lambda array: np.array(array).view(Fake)
    cupy.empty = lambda shape, dtype: np.full(shape, 77, dtype).view(Fake)
    return cupy


def case_of(folder: Path, names: list[str]) -> Case:
    """A case of a kernel whose parameters, two outputs among them, have these names; no compiler is asked."""
    (folder / "k.cu").write_text('extern "C" __global__ void k(float *all) {}')
    count = names[2] + "_" * keyword.iskeyword(names[2])
    (folder / "case.py").write_text(CASE.format(count=count))
    parameters = []
    for name, (kind, type) in zip(names, KINDS, strict=True):
        size = 8 if "*" in type else 4
        parameters.append(Parameter(name, type, kind, size, size, "int32" if type == "int" else "float32"))
    return Case.load(folder / "k.cu", case=folder / "case.py", signature=Signature("k", tuple(parameters)))


def called(folder: Path, name: str, names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the package, run its Python on a binding of NumPy, and its own test."""
    package.write(case_of(folder, names), name, folder / "made")
    given: list[tuple] = []

    def binding(x: Any, twice: Any, count: Any, y: Any, sums: Any, by: Any, grid: Any, block: Any, stream: Any) -> None:
        given.append((x, count, y, by, grid, block, stream))
        twice[...] = 2 * x
        sums[...] = 0
        sums[:1] = count + by

    made: Any = ModuleType(name)
    made.__path__ = [str(folder / "made" / "src" / name)]
    stub: Any = ModuleType(f"{name}._binding")
    setattr(stub, name, binding)
    tests = ModuleType("its_tests")
    with monkeypatch.context() as patch:
        patch.syspath_prepend(folder / "made" / "tests")
        for module in (made, stub, fake_cupy()):
            patch.setitem(sys.modules, module.__name__, module)
        for module_name in ("case", f"{name}._launch"):
            patch.delitem(sys.modules, module_name, raising=False)
        text = (folder / "made" / "src" / name / "__init__.py").read_text()
        made.__package__ = name
        exec(compile(text, "__init__.py", "exec"), made.__dict__)
        x, y = np.ones(5, "f4").view(Fake), np.ones((5, 2), "f4").view(Fake)
        twice, sums = getattr(made, name)(x, 3, y, 0.5)
        assert twice.tolist() == [2] * 5 and sums.tolist() == [3.5, 0, 0, 0, 0], "outputs were lost"
        assert given[0][0] is x and given[0][1] == 3 and given[0][2] is y and given[0][3:] == (0.5, 4, 256, None)
        out = tuple(np.zeros(5, "f4").view(Fake) for _ in range(2))
        assert getattr(made, name)(x, 3, y, 0.5, out=out, stream=9) is out and given[1][-1] == 9
        exec(compile((folder / "made" / "tests" / f"test_{name}.py").read_text(), "test.py", "exec"), tests.__dict__)
        tests.test_right(5)  # type: ignore[attr-defined]
        tests.test_signature()  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """All words in the files of a plain package, Python's keywords and builtins, without C++'s keywords."""
    folder = tmp_path_factory.mktemp("plain")
    package.write(case_of(folder, ["x", "twice", "count", "y", "sums", "by"]), "plain", folder / "made")
    words = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "side", "stream", "shape", "x_shape", "_before"}
    for path in (folder / "made").rglob("*"):
        if path.suffix in (".py", ".pyi") or path.name == "plain.cu":
            words |= set(re.findall(r"[A-Za-z_]\w*", path.read_text()))
    return sorted(word for word in words - {*CPP.split()} if word.isascii() and not word.startswith("__"))


def rounds(pool: list[str], shift: int) -> Iterator[list[str]]:
    for start in range(0, len(pool), len(KINDS)):
        names = (pool[start:] + pool)[: len(KINDS)]
        yield names[shift:] + names[:shift]


@pytest.mark.parametrize("shift", range(0, len(KINDS), 2))
def test_a_parameter_may_have_any_name(
    shift: int, pool: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, names in enumerate(rounds(pool, shift)):
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            called(folder, "plain_package", names, monkeypatch)
        except Exception as error:
            raise AssertionError(f"the names {names}") from error


def test_names_that_differ_by_an_underscore_stay_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called(tmp_path, "plain_package", ["out", "stream", "out_", "stream_", "grid_", "grid"], monkeypatch)


def cpp_words(folder: Path, names: list[str]) -> tuple[set[str], list[str]]:
    """The names in the C++ functions of a package that a variable could hide, and the variables of its parameters."""
    package.write(case_of(folder, names), "plain", folder / "made")
    texts = [(folder / "made" / "src" / f"plain.{ending}").read_text() for ending in ("cpp", "cu")]
    functions = [text.partition("namespace fourways_binding")[2].partition("PYBIND11_MODULE")[0] for text in texts]
    code = re.sub(r'//[^\n]*|"[^"\n]*"', "", "".join(functions))
    bound = re.search(r"void plain\(([^)]*)\)", code)
    assert bound
    words = set(re.findall(r"(?<![\w.])(?<!::)(?<!->)[A-Za-z_]\w*", code)) - {*CPP.split()}
    return words - {"__func__"}, [each.split()[-1] for each in bound[1].split(",")][: len(names)]


def test_a_parameter_hides_nothing_in_cpp(tmp_path: Path) -> None:
    plain = [f"plain_{number}" for number in range(len(KINDS))]
    (tmp_path / "plain").mkdir()
    words = {word for word in cpp_words(tmp_path / "plain", plain)[0] if not word.startswith("plain")}
    assert {"grid_checked", "launch_plain", "cudaStream_t", "fourways"} <= words
    for number, names in enumerate(rounds(sorted(words), 0)):
        (tmp_path / str(number)).mkdir()
        assert not words & set(cpp_words(tmp_path / str(number), names)[1])


def test_a_package_is_called_as_none_of_its_own_names(
    pool: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = ["x", "twice", "count", "y", "sums", "by"]
    refused = []
    for word in ["x", "side", "missing", "compare", "launch", "getattr", "Array", "vars", "kernel"]:
        folder = tmp_path / word
        folder.mkdir()
        try:
            called(folder, word, plain, monkeypatch)
        except ValueError as error:
            assert f"{word!r} has a meaning inside the package" in str(error)
            refused.append(word)
    assert refused == ["x", "missing", "compare", "launch", "getattr", "Array", "kernel"]
