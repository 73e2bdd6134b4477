"""Launches on the host: a wrong argument is named before anything runs, and what cannot start is an error."""

import re
import subprocess
import sys
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
        ({"y": X.astype("i4")}, TypeError, "argument 2 of 3"),
        ({"y": READ_ONLY}, ValueError, r"argument 2 of 3: float32\* .* can be written; a read-only array came"),
        ({"x": X.astype(">f4")}, TypeError, r"argument 1 of 3: .* >f4"),
        ({"x": X.tolist()}, TypeError, r"argument 1 of 3: const float32\* wants a NumPy array of float32; list came"),
        ({"x": None}, TypeError, r"argument 1 of 3: .* NoneType came"),
        ({"x": np.arange(16, dtype=np.float32)[::2]}, ValueError, r"argument 1 of 3: .* C-contiguous; strides \(8,\)"),
        ({"x": X.reshape(2, 4).T}, ValueError, "C-contiguous"),
        (
            {"n": np.int32(8)},
            TypeError,
            r"argument 3 of 3: a number, int64, is wanted; numpy.int32 came: pass np.int64",
        ),
        ({"n": np.array([8])}, TypeError, r"argument 3 of 3: a number, int64, is wanted; an array of int64 came"),
        ({"args": (X,)}, TypeError, r"doublify\(const float \*x, float \*y, long long n\) takes 3 arguments; 1 came"),
        ({"args": X}, TypeError, "args is a tuple"),
        ({"grid": (0,)}, ValueError, r"grid is \(0,\); CUDA takes 1 to"),
        ({"grid": (1, 65536)}, ValueError, "grid is"),
        ({"grid": 1}, TypeError, "grid is a tuple"),
        ({"grid": (1.0,)}, TypeError, "grid is a tuple"),
        ({"grid": (1, 1, 1, 1)}, TypeError, "grid is a tuple"),
        ({"block": (1025,)}, ValueError, r"block is \(1025,\)"),
        ({"block": (32, 33)}, ValueError, "has 1056 threads; CUDA takes up to 1024"),
        ({"block": (1, 1, 65)}, ValueError, "block is"),
        ({"block": ()}, TypeError, "block is a tuple"),
        ({"shared_mem": 49153}, ValueError, "shared_mem is 0 to 49152 bytes; 49153 came"),
        ({"shared_mem": -1}, ValueError, "shared_mem"),
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


def test_an_input_may_be_read_only() -> None:
    host.compile(kernels.path("doublify")).get_function("doublify")((1,), (8,), (READ_ONLY, poisoned(8), N))


def test_vector_pointers_want_whole_and_aligned_vectors() -> None:
    add_one = host.compile(HERE / "types.cuh").get_function("add_one")
    assert str(add_one.signature) == "add_one(const float4 *x, float4 *y, long long n4)"
    with pytest.raises(ValueError, match=r"argument 1 of 3: .* a multiple of 4 elements; 7 came"):
        add_one((1,), (1,), (X[:7], poisoned(8), 1))
    with pytest.raises(ValueError, match=r"argument 2 of 3: .* starts at a multiple of 16 bytes"):
        add_one((1,), (1,), (X, poisoned(12)[1:9], 1))


COMPLEX = """
#include <cuda/std/complex>
#include <cuda_fp16.h>
using number = cuda::std::complex<float>;
extern "C" __global__ void times(const float2 *x, float2 by, float2 *y) {
    const float2 z = x[threadIdx.x];
    y[threadIdx.x] = make_float2(z.x * by.x - z.y * by.y, z.x * by.y + z.y * by.x);
}
extern "C" __global__ void times_std(const number *x, number by, number *y) { y[threadIdx.x] = x[threadIdx.x] * by; }
extern "C" __global__ void twice(const __half *x, __half by, __half *y) { y[threadIdx.x] = x[threadIdx.x] * by; }
extern "C" __global__ void lengths(const float4 *x, float4 by, float *y) { y[threadIdx.x] = x[threadIdx.x].w * by.w; }
extern "C" __global__ void whole(const int2 *x, int *y) { *y = x->y; }
"""


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> host.HostModule:
    file = tmp_path_factory.mktemp("numbers") / "numbers.cu"
    file.write_text(COMPLEX)
    return host.compile(file)


def test_complex_numbers_and_halves(numbers: host.HostModule) -> None:
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


def test_a_vector_may_be_a_structure(numbers: host.HostModule) -> None:
    vector = np.dtype([(name, "f4") for name in "xyzw"])
    x, y = np.zeros(2, vector), np.zeros(2, np.float32)
    x["w"] = 1, 2
    numbers.get_function("lengths")((1,), (2,), (x, np.array((0, 0, 0, 3), vector)[()], y))
    assert y.tolist() == [3, 6]


@pytest.mark.parametrize(
    ("name", "number", "value"),
    [
        ("times", 1, np.zeros(8, np.complex128)),
        ("times", 2, np.complex128(1)),
        ("times", 2, np.float32(1)),
        ("twice", 1, np.zeros(8, np.float32)),
        ("lengths", 2, np.complex128(1)),
        ("whole", 1, np.zeros(8, np.complex64)),
        ("whole", 1, np.zeros(8, np.float64)),
    ],
)
def test_another_number_is_refused(numbers: host.HostModule, name: str, number: int, value: object) -> None:
    kernel = numbers.get_function(name)
    z = np.zeros(8, np.complex64)
    arguments = {
        "times": [z, z[0], z],
        "twice": [z, z[0], z],
        "lengths": [np.zeros(8, "V16"), z[0], z],
        "whole": [z, z],
    }
    arguments[name][number - 1] = value
    with pytest.raises(TypeError, match=f"{name}, argument {number} of "):
        kernel((1,), (1,), arguments[name])


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


def test_threads_that_cannot_be_started_are_an_error() -> None:
    """A process with little address space: it has no room for the stacks of 1024 threads."""
    script = (
        "import resource, sys, numpy as np; from fourways import host\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 500_000_000, resource.RLIM_INFINITY))\n"
        f"kernel = host.compile({str(HERE / 'right.cuh')!r}).get_function('reverse')\n"
        "x, y = np.zeros(1024, np.float32), np.zeros(1024, np.float32)\n"
        "kernel((1,), (8,), (x, y))\n"
        "try: kernel((1,), (1024,), (x, y))\n"
        "except RuntimeError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert re.match(r"cannot start 1024 OS threads, .*: use a smaller block$", done.stdout), done.stdout + done.stderr


@pytest.mark.parametrize("name", ["never_meet", "only_the_first_block_runs"])
def test_lanes_that_never_meet_are_an_error_and_no_later_block_runs(name: str) -> None:
    never = host.compile(HERE / "planted.cuh", PATIENCE).get_function(name)
    with pytest.raises(host.KernelError, match=r"thread \d+ of its block waited 1 s in a shuffle"):
        never((2,), (32,), (poisoned(32, dtype=np.int32),))


BOUNDED = r"""
#define THREADS 128
namespace lab { namespace deep { constexpr int WIDE = 64;
__global__ void __launch_bounds__(WIDE) __cluster_dims__(2) named(float *x) { x[threadIdx.x] = 1; } } }
extern "C" __global__ void __launch_bounds__(THREADS, 2) plain(float *x) { x[threadIdx.x] = 1; }
extern "C" __global__ __launch_bounds__((THREADS > 64) ? 32 : 8) void chosen(float *x) { x[threadIdx.x] = 1; }
template <int N> __global__ void __launch_bounds__(N) instance(float *x) { x[threadIdx.x] = 1; }
extern "C" __global__ void __maxnreg__(32) free_(float *x) { x[threadIdx.x] = 1; }
"""


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
    kernel = host.compile(BOUNDED, name_expressions=("lab::deep::named", "instance<8>")).get_function(name)
    x = np.zeros(1024, np.float32)
    kernel((grid,), (most,), (x,))
    assert np.count_nonzero(x) == most
    with pytest.raises(ValueError, match=reason) if reason else nullcontext():
        kernel((grid,), (most + 1,), (x,))
    if name == "lab::deep::named":
        with pytest.raises(ValueError, match=r"whole clusters of \(2, 1, 1\) blocks"):
            kernel((3,), (1,), (x,))
