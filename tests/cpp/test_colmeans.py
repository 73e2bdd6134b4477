"""Column means without a GPU: every form on the CPU, races, what the macros cost, what its binding refuses."""

import numpy as np
import pytest

import fourways_aot
from fourways import building, host, kernels, sass

PATH = kernels.path("colmeans")
SHAPES = [(0, 3, 5), (1, 1, 1), (2, 3, 5), (3, 70, 9), (1, 33, 17), (2, 8, 8), (2, 5, 0), (1, 1009, 2)]
FEW = ("-DTHREADS=8", "-DCOLUMNS=4")  # few OS threads
FORMS = {
    "two columns": ("-DTHREADS=8", "-DCOLUMNS=2"),
    "one column a block": ("-DTHREADS=8", "-DCOLUMNS=1"),
    "one thread a column": ("-DTHREADS=8", "-DCOLUMNS=8"),
    "too much room": (*FEW, "-DROOM=12288"),
    "one at a time": (*FEW, "-DAHEAD=1"),
    "many at a time": (*FEW, "-DAHEAD=16"),
}


def launch(kernel: host.HostKernel, shape: tuple[int, int, int], grid: int) -> None:
    """Compare one launch with NumPy; raises AssertionError where it is wrong or writes outside of the means."""
    x = np.random.default_rng(3).integers(0, 4096, shape).astype(np.float32)
    expected = x.sum(axis=1, dtype=np.float64).astype(np.float32) / np.float32(shape[1])
    around = np.full(expected.size + 128, np.nan, np.float32)
    means = around[64 : 64 + expected.size].reshape(expected.shape)
    kernel((grid,), (8,), (x, means, *map(np.int64, shape)))
    np.testing.assert_array_equal(means, expected)
    means[...] = np.nan
    assert np.isnan(around).all(), "wrote outside of the means"


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_right_on_any_grid(form: str) -> None:
    kernel = host.compile(PATH, FORMS[form]).get_function("colmeans")
    for shape in SHAPES:
        for grid in (1, 3, 40):
            launch(kernel, shape, grid)


def test_the_defaults_are_right() -> None:
    kernel = host.compile(PATH).get_function("colmeans")
    x = np.random.default_rng(3).integers(0, 4096, (2, 37, 70)).astype(np.float32)
    means = np.full((2, 70), np.nan, np.float32)
    kernel((2,), (128,), (x, means, *map(np.int64, x.shape)))
    np.testing.assert_array_equal(means, x.sum(axis=1) / np.float32(37))


def test_matrices_without_rows_have_no_mean() -> None:
    means = np.zeros((2, 5), np.float32)
    kernel = host.compile(PATH, FEW).get_function("colmeans")
    kernel((1,), (8,), (np.empty((2, 0, 5), np.float32), means, *map(np.int64, (2, 0, 5))))
    assert np.isnan(means).all()


@pytest.mark.parametrize("sanitizer", ["thread", "address"])
def test_no_race_and_no_access_outside(sanitizer: str) -> None:
    kernel = host.compile(PATH, FEW, sanitize=sanitizer).get_function("colmeans")
    for shape in ((1, 1, 1), (2, 9, 7)):
        launch(kernel, shape, grid=1)  # one block for several pieces of work


@pytest.mark.parametrize("barrier", ["__syncthreads(); // the sums", "__syncthreads(); // partial may"])
def test_each_barrier_is_needed(barrier: str, tmp_path) -> None:
    wrong = tmp_path / "wrong.cuh"
    assert kernels.source("colmeans").count(barrier) == 1
    wrong.write_text(kernels.source("colmeans").replace(barrier, barrier.removeprefix("__syncthreads();")))
    kernel = host.compile(wrong, FEW, sanitize="thread").get_function("colmeans")
    with pytest.raises(host.SanitizerError):
        launch(kernel, (2, 9, 7), grid=1)


@pytest.mark.parametrize("compiler", building.COMPILERS)
def test_what_the_macros_cost(compiler: str) -> None:
    """What lesson 07 says of its forms: which memory a block takes, how many reads are on their way at once."""

    def built(*options: str) -> building.Build:
        return building.build(PATH, compiler, "sm_90", options=options)

    shared = [built(*options).resources["colmeans"].shared_bytes for options in ((), ("-DROOM=12288",))]
    assert shared == [512, 49_152]
    assert built().registers <= 65_536 // 2048, "2048 threads fit"
    for ahead in (1, 4):
        listing = sass.parse(sass.disassemble(built(f"-DAHEAD={ahead}").code))
        kinds = "".join("+" if i.opcode == "FADD" else "r" if i.opcode.startswith("LDG") else "" for i in listing)
        assert max(map(len, kinds.split("+"))) == ahead, kinds


class Exported:
    """Stands for a GPU array at an address that nobody reads: the call ends before."""

    def __init__(self, address: int, shape: tuple[int, ...], typestr: str = "<f4", read_only: bool = False) -> None:
        data = (0x7F00_0000_0000 + address, read_only)
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "data": data, "version": 3}


X, MEANS = Exported(0, (2, 3, 5)), Exported(0x1000, (2, 5))


@pytest.mark.parametrize(
    ("x", "means", "error", "message"),
    [
        (Exported(0, (2, 3, 5), "<f8"), MEANS, TypeError, "x has dtype float64; wanted float32"),
        (X, np.zeros((2, 5), np.float32), TypeError, "means is a numpy.ndarray in host memory"),
        (Exported(0, (6, 5)), MEANS, ValueError, r"x has shape \(6, 5\); wanted three dimensions"),
        (X, Exported(0x1000, (2, 3)), ValueError, r"means has shape \(2, 3\); wanted \(2, 5\), a mean for each column"),
        (X, Exported(0x1000, (10,)), ValueError, r"means has shape \(10,\); wanted \(2, 5\)"),
        (X, Exported(0x1000, (2, 5), read_only=True), ValueError, "means is read-only"),
        (X, Exported(0x10, (2, 5)), ValueError, "means shares memory with x"),
    ],
)
def test_the_binding_names_a_bad_argument(x: object, means: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^colmeans: {message}"):
        fourways_aot.colmeans(x, means)
