"""What a package's function asks for, and what it finds out from the case."""

from pathlib import Path

import pytest

from fourways.case import Case
from fourways.package import probe
from fourways.package.error import PackageError
from fourways.package.interface import Interface
from fourways.ways import WAYS

FOUND: dict[str, tuple[str, set[str]]] = {
    "softclip": ("x bias gain knee", {"n is x.size", "bias has the shape of x", "y has the shape of x"}),
    "axpy": ("a x y", {"n is x.size"}),
    "column_sums": ("x", {"rows is x.shape[0]", "columns is x.shape[1]", "sums has shape (x.shape[1],)"}),
    "fir": ("x taps n", {"y has shape (n,)"}),
    "grey": ("rgb", {"n is rgb.shape[0]", "y has shape (rgb.shape[0],)"}),
    "heat": ("u c", {"u has shape (u.shape[0], u.shape[0], u.shape[0])"}),
    "minmax": ("x", {"least has shape (1,)", "greatest has shape (1,)"}),
}


@pytest.mark.parametrize(("blocks", "covers"), [({4: 1, 8: 2, 12: 3}, True), ({4: 1, 8: 3}, False)])
def test_blocks_that_no_constant_share_of_the_size_explains(blocks: dict[int, int], covers: bool) -> None:
    """One block for 4 elements needs a share of 4 or more, and three blocks for 8 one of less than 4."""
    assert probe._covers({size: (number, 1, 1) for size, number in blocks.items()}) is covers


def interface(folder: Path, kernel: str, case: str) -> Interface:
    (folder / "k.cu").write_text(f'extern "C" __global__ void k({kernel}) {{}}')
    (folder / "case.py").write_text(f"import numpy as np\n{case}\n")
    return probe.interface(Case.load(folder / "k.cu", case=folder / "case.py"))


@pytest.mark.parametrize("name", FOUND)
def test_what_no_array_tells_is_asked_for(name: str, root: Path) -> None:
    file = root / "tests" / "cases" / f"{name}.cu"
    face = probe.interface(Case.load(file, case=file.with_suffix(".py")))
    arguments, told = FOUND[name]
    assert face.arguments == tuple(arguments.split())
    assert told <= set(face.told)


@pytest.mark.parametrize(
    "kernel, inputs, arguments, told",
    [
        # of no input an output tells, and must be given
        ("float *y, int n", "()", "", ["n is y.size", "THREADS y.size", "no array tells what out must be: give it"]),
        # 0, 1 and a number that is nobody's extent stay the caller's
        ("const float *x, float *y, int flag, int n", "(X, 1)", "x flag",
         ["n is x.size", "y has the shape of x", "THREADS x.size"]),
        ("const float *x, float *y, int steps, int n", "(X, 7)", "x steps",
         ["n is x.size", "y has the shape of x", "THREADS x.size"]),
        # a size that is nobody's extent
        ("const float *x, float *y", "(np.ones(2 * size, 'f4'),)", "x",
         ["y has shape (size,)", "THREADS size, which the caller gives"]),
        # no more than agrees at all three sizes
        ("const float *x, const float *w, float *y, int n", "(X, np.ones(5, 'f4'))", "x w",
         ["n is x.size", "y has the shape of x", "THREADS x.size"]),
        # an axis that varies with another is held to it, and a constant one is not
        ("const float *x, const float *m, float *y, int n", "(X, np.ones((3, size), 'f4'))", "x m",
         ["n is x.size", "y has the shape of x", "m has shape (m.shape[0], x.size)", "THREADS x.size"]),
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
    told = [line.replace("THREADS", "the launch has blocks of 256 threads, and a thread for each of") for line in told]
    assert (face.arguments, face.told) == (tuple(arguments.split()), told)
    assert face.asks_size == ("y has shape (size,)" in told)


def test_an_output_may_be_as_long_as_a_number_of_the_caller_says(tmp_path: Path) -> None:
    """The number is 1, 2 and 6 at the three sizes: a length of 1 at the first tells nothing against it."""
    case = """
def make_inputs(size): return np.ones(size, "f4"), size // 5
def reference(x, parts): return np.ones(parts, "f4")
"""
    face = interface(tmp_path, "const float *x, float *sums, int parts, int n", 'size = "n"' + case)
    assert face.arguments == ("x", "parts") and "sums has shape (parts,)" in face.told


def test_a_kernel_without_a_case_file_has_a_cell(tmp_path: Path) -> None:
    kernel = 'extern "C" __global__ void twice(const float *x, float *y, int n) { for (; n--;) y[n] = 2 * x[n]; }'
    (tmp_path / "twice.cu").write_text(kernel)
    cell = WAYS["pybind11"].cell(Case.load(tmp_path / "twice.cu"))
    assert cell.startswith("import twice\n") and cell.endswith("    twice.twice(x, out=y)\n")


def test_a_pointer_to_arrays_is_refused(tmp_path: Path) -> None:
    case = "def make_inputs(size): return (np.zeros(size, 'V16'),)\ndef reference(x): return np.zeros(len(x), 'f4')"
    with pytest.raises(PackageError, match=r"k\.cu: x is float const \(\*\) \[4\]; a binding takes plain"):
        interface(tmp_path, "const float (*x)[4], float *y, int n", case)


def test_a_parameter_without_a_name_is_refused(tmp_path: Path) -> None:
    case = "def make_inputs(size): return (np.ones(size, 'f4'),)\ndef reference(x): return x"
    with pytest.raises(PackageError, match=r"k\.cu: argument 1 of k has no name: give it one"):
        interface(tmp_path, "const float *, float *y, int n", case)


CELLS = """
def make_inputs(size):
    cells = {cells}
    return np.ones(size, "f4"), np.linspace(0, size, cells + 1).astype("i4")

def reference(x, first): return x

def launch({taken}): return {launch}
"""


@pytest.mark.parametrize(
    "cells, taken, launch, arguments, told",
    [
        # a number of blocks that another array tells
        ("size // 4", "size", "size // 4, 32", ["size"],
         "blocks are as many as first.shape[0] counts at sizes [5, 12, 33]"),
        ("max(1, round(size ** (1 / 3))) ** 3", "size", "round(size ** (1 / 3)) ** 3, 32", ["size"],
         "write launch(size, first)"),
        # the same, while the cells happen to be as many at all three sizes
        ("8", "size", "max(1, round(size ** .5)), 32", ["size"], "no share of the size, and first.shape[0] may vary"),
        ("8", "size", "8, 32", [],
         "grid (8,) and block (32,) are the same at every size; if the grid depends on first.sh"),
        # a thread, or a few, for each element: right whatever the other arrays
        ("8", "size", "max(1, -(-size // 128)), 128", [], "launch(size): size is x.size"),
        ("8", "size", "min(-(-size // 512), 400), 128", [], "launch(size): size is x.size"),
        # what the launch is told, it is not asked for
        ("8", "size, first", "first.shape[0] - 1, size", [], "size is x.size; it sees the shape of first"),
        ("8", "_, first", "first.shape[0] - 1, 32", [], "size is not used; it sees the shape of first"),
    ],
)  # fmt: skip
def test_a_grid_is_not_taken_from_an_array_that_does_not_tell_it(
    cells: str, taken: str, launch: str, arguments: list[str], told: str, tmp_path: Path
) -> None:
    case = CELLS.format(cells=cells, taken=taken, launch=launch)
    face = interface(tmp_path, "const float *x, const int *first, float *y", case)
    assert [*face.arguments, *["size"] * face.asks_size] == ["x", "first", *arguments]
    assert told in face.told[-1]
