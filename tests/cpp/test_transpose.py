"""Transpose without a GPU: every variant on the CPU, races, what the compilers make of it, what its binding refuses."""

from pathlib import Path

import numpy as np
import pytest

import fourways_aot
from fourways import building, host, kernels, lesson

SHAPES = [
    (0, 0),
    (0, 5),
    (5, 0),
    (1, 1),
    (1, 33),
    (33, 1),
    (31, 33),
    (32, 64),
    (64, 64),
    (65, 127),
    (129, 63),
    (7, 1009),
]
VARIANTS = {
    "default": (),
    "naive": ("-DTILED=0",),
    "no padding": ("-DPAD=0",),
    "smaller tile": ("-DTILE=32",),
    "one row of threads": ("-DTILE=8", "-DCOLS=8", "-DROWS=1"),
}
FEW = ("-DCOLS=4", "-DROWS=2")  # few OS threads


def launch(
    kernel: host.HostKernel, shape: tuple[int, int], grid: tuple[int, int], block: tuple[int, int] = (4, 2)
) -> None:
    """Compare one launch with NumPy; raises AssertionError where it is wrong or writes outside of b."""
    a = np.random.default_rng(3).random(shape, dtype=np.float32)
    around = np.full(a.size + 128, np.nan, np.float32)
    b = around[64 : 64 + a.size].reshape(shape[::-1])
    kernel(grid, block, (a, b, np.int64(shape[0]), np.int64(shape[1])))
    np.testing.assert_array_equal(b, a.T)
    b[...] = np.nan
    assert np.isnan(around).all(), "wrote outside of b"


@pytest.mark.parametrize("variant", VARIANTS)
def test_right_for_any_shape_and_any_grid(variant: str) -> None:
    options = VARIANTS[variant] if variant == "one row of threads" else (*FEW, *VARIANTS[variant])
    block = (8, 1) if variant == "one row of threads" else (4, 2)
    kernel = host.compile(kernels.path("transpose"), options).get_function("transpose")
    for shape in SHAPES:
        for grid in ((1, 1), (3, 2), (20, 20)):
            launch(kernel, shape, grid, block)


def test_right_with_the_block_that_the_gpu_gets() -> None:
    kernel = host.compile(kernels.path("transpose")).get_function("transpose")
    launch(kernel, (129, 63), (1, 3), (32, 8))


def test_reads_and_writes_nothing_outside() -> None:
    kernel = host.compile(kernels.path("transpose"), FEW, sanitize="address").get_function("transpose")
    for shape in ((1, 1), (65, 127), (64, 64)):
        a, b = np.ones(shape, np.float32), np.zeros(shape[::-1], np.float32)
        kernel((2, 1), (4, 2), (a, b, np.int64(shape[0]), np.int64(shape[1])))
        assert b.all()


@pytest.mark.parametrize("barrier", ["the tile is complete", "the tile may be overwritten"])
def test_no_race_and_no_barrier_too_many(barrier: str, tmp_path: Path) -> None:
    """A block that moves several tiles needs both barriers: without either of them there is a race."""
    source = kernels.source("transpose")
    line = f"__syncthreads(); // {barrier}"
    assert source.count(line) == 1
    arguments = (np.ones((80, 150), np.float32), np.empty((150, 80), np.float32), np.int64(80), np.int64(150))
    host.compile(kernels.path("transpose"), FEW, sanitize="thread").get_function("transpose")((1, 1), (4, 2), arguments)
    broken = tmp_path / "transpose.cuh"
    broken.write_text(source.replace(line, ""))
    with pytest.raises(host.SanitizerError, match="data race"):
        host.compile(broken, FEW, sanitize="thread").get_function("transpose")((1, 1), (4, 2), arguments)


@pytest.mark.parametrize("compiler", building.COMPILERS)
def test_the_tile_is_all_the_shared_memory_and_nothing_spills(compiler: str) -> None:
    for options, floats in (((), 64 * 65), (("-DPAD=0",), 64 * 64), (("-DTILE=32",), 32 * 33), (("-DTILED=0",), 0)):
        built = building.build(kernels.path("transpose"), compiler, options=options)
        needs = built.resources["transpose"]
        assert (needs.shared_bytes, needs.spill_bytes) == (4 * floats, 0), options


def test_the_lessons_matrices_are_of_the_size_and_not_square() -> None:
    namespace: dict[str, object] = {}
    exec(lesson.find("04").cells("setup")[0], namespace)
    for size in (0, 1, 2, 31, 32, 33, 1009, 65_537, 2**22):
        (matrix,) = namespace["make_inputs"](size)  # type: ignore[operator]
        h, w = matrix.shape
        assert h != w and 0.8 * size <= matrix.size <= 1.2 * size + 1


# --- the binding -----------------------------------------------------------------------------------------------------


class Exported:
    """Stands for a GPU array at an address that nobody reads: the call ends before."""

    def __init__(self, shape: tuple[int, ...], typestr: str = "<f4", address: int = 2**40, **more: object) -> None:
        data = (address, bool(more.pop("read_only", False)))
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "data": data, "version": 3} | more


GOOD = Exported((3, 2), address=2**41)


@pytest.mark.parametrize(
    ("a", "b", "error", "message"),
    [
        (Exported((6,)), GOOD, ValueError, r"a has shape \(6,\); wanted two dimensions"),
        (Exported((2, 3, 1)), GOOD, ValueError, r"a has shape \(2, 3, 1\); wanted two dimensions"),
        (Exported((2, 3)), Exported((2, 3), address=2**41), ValueError, r"b has shape \(2, 3\); wanted \(3, 2\)"),
        (Exported((2, 3)), Exported((6,), address=2**41), ValueError, r"b has shape \(6,\); wanted \(3, 2\)"),
        (Exported((0, 3)), Exported((0, 3)), ValueError, r"b has shape \(0, 3\); wanted \(3, 0\)"),
        (Exported((2, 3)), Exported((3, 2), address=2**40 + 20), ValueError, "b shares memory with a"),
        (Exported((2, 3), strides=(4, 8)), GOOD, ValueError, r"a has shape .* strides \(4, 8\); wanted C order"),
        (Exported((2, 3)), Exported((3, 2), read_only=True), ValueError, "b is read-only"),
        (Exported((2, 3), "<f8"), GOOD, TypeError, "a has dtype float64; wanted float32"),
        (np.zeros((2, 3), np.float32), GOOD, TypeError, "a is a numpy.ndarray in host memory"),
    ],
)
def test_the_binding_refuses(a: object, b: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^transpose: {message}"):
        fourways_aot.transpose(a, b)
