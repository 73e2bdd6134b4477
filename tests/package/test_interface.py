"""What a package's function asks for, and what it finds out from the case."""

from pathlib import Path

import pytest

from fourways import lesson, package

FOUND: dict[str, tuple[str, set[str]]] = {
    "softclip": ("x bias gain knee", {"n is x.size", "bias has the shape of x", "y has the shape of x"}),
    "axpy": ("a x y", {"n is x.size"}),
    "column_sums": ("x", {"rows is x.shape[0]", "columns is x.shape[1]", "sums has shape (x.shape[1],)"}),
    "fir": ("x taps n", {"y has shape (n,)"}),
    "grey": ("rgb", {"n is rgb.shape[0]", "y has shape (rgb.shape[0],)"}),
    "heat": ("u c", {"u has shape (u.shape[0], u.shape[0], u.shape[0])"}),
    "minmax": ("x", {"least has shape (1,)", "greatest has shape (1,)"}),
}


def interface(folder: Path, kernel: str, case: str) -> package.Interface:
    (folder / "k.cu").write_text(f'extern "C" __global__ void k({kernel}) {{}}')
    (folder / "case.py").write_text(f"import numpy as np\n{case}\n")
    return package.interface(lesson.Case(folder / "k.cu", case=folder / "case.py"))


@pytest.mark.parametrize("name", FOUND)
def test_what_no_array_tells_is_asked_for(name: str, root: Path) -> None:
    file = root / "tests" / "cases" / f"{name}.cu"
    face = package.interface(lesson.Case(file, case=file.with_suffix(".py")))
    arguments, told = FOUND[name]
    assert face.arguments == tuple(arguments.split())
    assert told <= set(face.told)


@pytest.mark.parametrize(
    "kernel, inputs, arguments, told",
    [
        # of no input an output tells, and must be given
        ("float *y, int n", "()", "", ["n is y.size", "no array tells what out must be: give it"]),
        # 0, 1 and a number that is nobody's extent stay the caller's
        ("const float *x, float *y, int flag, int n", "(X, 1)", "x flag", ["n is x.size", "y has the shape of x"]),
        ("const float *x, float *y, int steps, int n", "(X, 7)", "x steps", ["n is x.size", "y has the shape of x"]),
        # a size that is nobody's extent
        ("const float *x, float *y", "(np.ones(2 * size, 'f4'),)", "x", ["y has shape (size,)"]),
        # no more than agrees at all three sizes
        ("const float *x, const float *w, float *y, int n", "(X, np.ones(5, 'f4'))", "x w",
         ["n is x.size", "y has the shape of x"]),
        # an axis that varies with another is held to it, and a constant one is not
        ("const float *x, const float *m, float *y, int n", "(X, np.ones((3, size), 'f4'))", "x m",
         ["n is x.size", "y has the shape of x", "m has shape (m.shape[0], x.size)"]),
    ],
)  # fmt: skip
def test_extents(kernel: str, inputs: str, arguments: str, told: list[str], tmp_path: Path) -> None:
    inputs = inputs.replace("X", "np.ones(size, 'f4')")
    case = f"""
def make_inputs(size):
    global n
    n = size
    return {inputs}
def reference(*inputs): return np.ones(n, "f4")
"""
    case += 'size = "n"\n' if "int n" in kernel else ""
    face = interface(tmp_path, kernel, case)
    assert (face.arguments, face.told) == (tuple(arguments.split()), told)
    assert face.asks_size == (told == ["y has shape (size,)"])


def test_a_pointer_to_arrays_is_refused(tmp_path: Path) -> None:
    case = "def make_inputs(size): return (np.ones((size, 4), 'f4'),)\ndef reference(x): return x"
    with pytest.raises(package.PackageError, match=r"k\.cu: x is float const \(\*\) \[4\]; a binding takes plain"):
        interface(tmp_path, "const float (*x)[4], float *y, int n", case)


def test_a_parameter_without_a_name_is_refused(tmp_path: Path) -> None:
    case = "def make_inputs(size): return (np.ones(size, 'f4'),)\ndef reference(x): return x"
    with pytest.raises(package.PackageError, match=r"k\.cu: argument 1 of k has no name: give it one"):
        interface(tmp_path, "const float *, float *y, int n", case)
