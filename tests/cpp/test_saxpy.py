"""Saxpy without a GPU: any size and any address on the CPU, the width of its loads, what its binding refuses."""

import re
from pathlib import Path

import numpy as np
import pytest

import fourways_aot
from fourways import building, host, kernels, sass, ways

SIZES = (0, 1, 3, 4, 5, 31, 32, 33, 257, 1009, 65_537)
A = np.float32(2.5)


def padded(size: int, offset: int) -> tuple[np.ndarray, np.ndarray]:
    """NaNs, and in the middle of them an array that starts `offset` floats after a multiple of 32 bytes."""
    around = np.full(size + 32, np.nan, np.float32)
    start = 8 + offset + (-around.ctypes.data // 4) % 8
    return around, around[start : start + size]


def run(kernel: host.HostKernel, size: int, offsets: tuple[int, ...], grid: int = 3) -> None:
    """Compare one launch with NumPy; raises AssertionError where it is wrong or writes outside of z."""
    (_, x), (_, y), (around, z) = (padded(size, offset) for offset in offsets)
    x[...], y[...] = np.random.default_rng(3).random((2, size), dtype=np.float32)
    kernel((grid,), (32,), (A, x, y, z, np.int64(size)))
    np.testing.assert_allclose(z, np.float64(A) * x + y, rtol=1e-6)
    z[...] = np.nan
    assert np.isnan(around).all(), "wrote outside of z"


@pytest.mark.parametrize("vector", [1, 2, 4, 8])
def test_right_at_any_size_and_address(vector: int) -> None:
    kernel = host.compile(kernels.path("saxpy"), (f"-DVECTOR={vector}",)).get_function("saxpy")
    for size in SIZES:
        for offsets in ((0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 0, 3), (1, 1, 1), (4, 4, 4)):
            run(kernel, size, offsets)
    run(kernel, 1009, (0, 0, 0), grid=1)
    run(kernel, 1009, (0, 0, 0), grid=64)


def test_reads_and_writes_nothing_outside() -> None:
    kernel = host.compile(kernels.path("saxpy"), sanitize="address").get_function("saxpy")
    for size in (1, 5, 8, 131):
        x = np.ones(size, np.float32)
        z = np.empty_like(x)
        kernel((1,), (32,), (A, x, x, z, np.int64(size)))
        np.testing.assert_array_equal(z, 3.5)


@pytest.mark.parametrize("compiler", building.COMPILERS)
@pytest.mark.parametrize(("vector", "width"), [(1, ""), (2, ".64"), (4, ".128")])
def test_each_array_is_moved_by_instructions_of_the_packs_width(compiler: str, vector: int, width: str) -> None:
    built = building.build(kernels.path("saxpy"), compiler, options=(f"-DVECTOR={vector}",))
    listing = sass.parse(sass.disassemble(built.code))
    for opcode, arrays in (("LDG.E", 2), ("STG.E", 1)):
        found = [line.opcode.removesuffix(".CONSTANT") for line in listing if line.opcode.startswith(opcode)]
        single = arrays if vector > 1 else 2 * arrays  # the loop for the rest moves single floats
        assert sorted(found) == sorted([opcode + width] * arrays * (vector > 1) + [opcode] * single)
    assert built.resources["saxpy"].spill_bytes == 0


def test_cupys_own_ftz_comes_last_and_wins_but_the_ieee_function_never_flushes(tmp_path: Path) -> None:
    """What the lesson says of options, of the compiler that is installed."""

    def arithmetic(path: Path, *options: str) -> set[str]:
        ptx = building.build(path, output="ptx", options=options).code.decode()
        return set(re.findall(r"(?:fma|add|mul)[.\w]*f32", ptx))

    flushing = ways.WAYS["nvrtc"].added_options
    assert arithmetic(kernels.path("saxpy")) == {"fma.rn.f32"}
    assert arithmetic(kernels.path("saxpy"), "-ftz=false", *flushing) == {"fma.rn.ftz.f32"}
    ieee = tmp_path / "ieee.cuh"
    ieee.write_text('extern "C" __global__ void f(float *x) { *x = __fmaf_ieee_rn(x[1], x[2], x[3]); }')
    assert arithmetic(ieee, *flushing) == {"fma.rn.f32"}


class Exported:
    """Stands for a GPU array at an address that nobody reads: the call ends before."""

    def __init__(self, address: int, shape: tuple[int, ...] = (4,), typestr: str = "<f4", read_only: bool = False):
        data = (0x7F00_0000_0000 + address, read_only)
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "data": data, "version": 3}


X, Y, Z = Exported(0), Exported(0x1000), Exported(0x2000)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((1e300, X, Y, Z), ValueError, r"a is 1e\+300; wanted a number within float32's range"),
        ((2.5, Exported(0, typestr="<f8"), Y, Z), TypeError, "x has dtype float64; wanted float32"),
        ((2.5, X, np.zeros(4, np.float32), Z), TypeError, "y is a numpy.ndarray in host memory"),
        ((2.5, X, Exported(0x1000, (5,)), Z), ValueError, r"y has shape \(5,\); wanted \(4,\), the shape of x"),
        ((2.5, X, Y, Exported(0x2000, (2, 2))), ValueError, r"z has shape \(2, 2\); wanted \(4,\), the shape of x"),
        ((2.5, X, Y, Exported(0x2000, read_only=True)), ValueError, "z is read-only"),
        ((2.5, X, Y, X), ValueError, "z shares memory with x"),
        ((2.5, X, Y, Exported(0x100C)), ValueError, "z shares memory with y"),
    ],
)
def test_the_binding_names_a_bad_argument(arguments: tuple, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^saxpy: {message}"):
        fourways_aot.saxpy(*arguments)
