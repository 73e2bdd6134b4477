"""Launches on the host: a wrong argument is named before anything runs, and what cannot start is an error."""

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from fourways import host, kernels

HERE = Path(__file__).parent / "kernels"
PATIENCE = ("-DFOURWAYS_PATIENCE=1",)  # seconds until lanes that wait for each other in vain give up


def poisoned(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return np.full(shape, np.nan if np.issubdtype(dtype, np.floating) else -99, dtype)


X, N = np.arange(8, dtype=np.float32), np.int64(8)
READ_ONLY = X.copy()
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"x": X.astype("f8")}, TypeError, r"argument 1 of 3: const float32\* wants .* of float32; .*float64.* came"),
        ({"y": READ_ONLY}, ValueError, r"argument 2 of 3: float32\* .* can be written; a read-only array came"),
        ({"x": X.tolist()}, TypeError, r"argument 1 of 3: const float32\* wants a NumPy array of float32; list came"),
        ({"x": np.arange(16, dtype=np.float32)[::2]}, ValueError, r"argument 1 of 3: .* C-contiguous; strides \(8,\)"),
        (
            {"n": np.int32(8)},
            TypeError,
            r"argument 3 of 3: a number, int64, is wanted; numpy.int32 came: pass np.int64",
        ),
        ({"n": np.array([8])}, TypeError, r"argument 3 of 3: a number, int64, is wanted; an array of int64 came"),
        ({"args": (X,)}, TypeError, r"doublify\(const float \*x, float \*y, long long n\) takes 3 arguments; 1 came"),
        ({"args": X}, TypeError, "args is a tuple"),
        ({"grid": (0,)}, ValueError, r"grid is \(0,\); CUDA takes 1 to"),
        ({"grid": 1}, TypeError, "grid is a tuple"),
        ({"grid": (1, 1, 1, 1)}, TypeError, "grid is a tuple"),
        ({"block": (1025,)}, ValueError, r"block is \(1025,\)"),
        ({"block": (32, 33)}, ValueError, "has 1056 threads; CUDA takes up to 1024"),
        ({"block": ()}, TypeError, "block is a tuple"),
    ],
)
def test_a_wrong_argument_is_named_and_nothing_runs(change: dict, error: type[Exception], message: str) -> None:
    y = poisoned(8)
    given = {"x": X, "y": y, "n": N, "grid": (1,), "block": (8,), "shared_mem": 0} | change
    arguments = given.get("args", (given["x"], given["y"], given["n"]))
    with pytest.raises(error, match=message):
        host.compile(kernels.path("doublify")).get_function("doublify")(
            given["grid"], given["block"], arguments, shared_mem=given["shared_mem"]
        )
    assert np.isnan(y).all()


def test_vector_pointers_want_whole_and_aligned_vectors() -> None:
    add_one = host.compile(HERE / "types.cuh").get_function("add_one")
    assert str(add_one.signature) == "add_one(const float4 *x, float4 *y, long long n4)"
    with pytest.raises(ValueError, match=r"argument 1 of 3: .* a multiple of 4 elements; 7 came"):
        add_one((1,), (1,), (X[:7], poisoned(8), 1))
    with pytest.raises(ValueError, match=r"argument 2 of 3: .* starts at a multiple of 16 bytes"):
        add_one((1,), (1,), (X, poisoned(12)[1:9], 1))


def test_complex_numbers_and_halves() -> None:
    numbers = host.compile(HERE / "numbers.cuh")
    z, by = (np.arange(8) + 1j).astype(np.complex64), np.complex64(2 - 3j)
    for name in ("times", "times_std"):
        y = np.zeros(8, np.complex64)
        numbers.get_function(name)((1,), (8,), (z, by, y))
        np.testing.assert_array_equal(y, z * by)
    times, y = numbers.get_function("times"), np.zeros(16, np.float32)
    times((1,), (8,), (z.view(np.float32), by, y))
    np.testing.assert_array_equal(y.view(np.complex64), z * by, "two floats each")
    x, y = np.arange(8, dtype=np.float16), np.zeros(8, np.float16)
    numbers.get_function("twice")((1,), (8,), (x, np.float16(2), y))
    np.testing.assert_array_equal(y, 2 * x)


def test_more_shared_memory_must_be_asked_for() -> None:
    reverse, y = host.compile(HERE / "right.cuh").get_function("reverse_dynamic"), poisoned(8)
    with pytest.raises(ValueError, match="49152 bytes; 98304 came: allow more with max_dynamic_shared_size_bytes"):
        reverse((1,), (8,), (X, y), shared_mem=96 * 1024)
    reverse.max_dynamic_shared_size_bytes = 227 * 1024
    reverse((1,), (8,), (X, y), shared_mem=227 * 1024)
    np.testing.assert_array_equal(y, X[::-1])
    with pytest.raises(ValueError, match="shared_mem is 0 to 232448 bytes; 232449 came$"):
        reverse((1,), (8,), (X, y), shared_mem=227 * 1024 + 1)


def test_an_array_of_structs_has_the_kernels_size(tmp_path: Path) -> None:
    file = tmp_path / "structs.cuh"
    file.write_text(
        "struct Step { double to; char kind; int times; double by; };\n"
        'extern "C" __global__ void count(Step *y) { y[0].times += 1; }\n'
    )
    count = host.compile(file).get_function("count")
    fields = [("to", "f8"), ("kind", "i1"), ("times", "i4"), ("by", "f8")]
    with pytest.raises(TypeError, match=r"array is wanted, of 24 bytes an element; .* of 21 bytes, .* align=True"):
        count((1,), (1,), (np.zeros(2, np.dtype(fields)),))
    with pytest.raises(TypeError, match=r"wanted, of 24 bytes an element; .* of 8 bytes, came$"):
        count((1,), (1,), (np.zeros(2),))
    y = np.zeros(2, np.dtype(fields, align=True))
    count((1,), (1,), (y,))
    assert y["times"].tolist() == [1, 0]


@pytest.mark.parametrize("name", ["never_meet", "only_the_first_block_runs"])
def test_lanes_that_never_meet_are_an_error_and_no_later_block_runs(name: str) -> None:
    never = host.compile(HERE / "planted.cuh", PATIENCE).get_function(name)
    with pytest.raises(host.KernelError, match=r"thread \d+ of its block waited 1 s in a shuffle"):
        never((2,), (32,), (poisoned(32, dtype=np.int32),))


@pytest.mark.parametrize(
    ("name", "most", "grid", "reason"),
    [
        ("plain", 128, 1, r"block \(129,\) has 129 threads; the kernel takes up to 128"),
        ("chosen", 32, 1, "up to 32"),
        ("lab::deep::named", 64, 2, "up to 64"),
        ("free_", 1023, 1, None),
        ("instance<8>", 1023, 1, None),  # its bounds name a parameter of the template
    ],
)
def test_bounds_that_a_kernel_declares(name: str, most: int, grid: int, reason: str | None) -> None:
    kernel = host.compile(HERE / "bounded.cu", name_expressions=("lab::deep::named", "instance<8>")).get_function(name)
    x = np.zeros(1024, np.float32)
    kernel((grid,), (most,), (x,))
    assert np.count_nonzero(x) == most
    with pytest.raises(ValueError, match=reason) if reason else nullcontext():
        kernel((grid,), (most + 1,), (x,))
    if name == "lab::deep::named":
        with pytest.raises(ValueError, match=r"whole clusters of \(2, 1, 1\) blocks"):
            kernel((3,), (1,), (x,))
