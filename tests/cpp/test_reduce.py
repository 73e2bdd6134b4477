"""Lesson 03 without a GPU: the sum on the CPU, how far its rounding may go, what the binding refuses."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import fourways_aot
from fourways import building, host, kernels, lesson, toolchain

SIZES = (0, 1, 2, 3, 4, 5, 31, 32, 33, 255, 256, 257, 1009, 65_537)
REDUCE = kernels.path("reduce")

needs_compiler = pytest.mark.skipif(
    bool(toolchain.missing("host compiler")), reason=str(toolchain.missing("host compiler"))
)


def odd_numbers(size: int) -> np.ndarray:
    """Odd whole numbers, none of them 0: exact sums in any order, and a missing one shows."""
    return (2 * np.random.default_rng(3).integers(-8, 8, size) + 1).astype(np.float32)


# --- the kernel ------------------------------------------------------------------------------------------------------


@needs_compiler
@pytest.mark.parametrize(("blocks", "threads"), [(1, 32), (3, 64), (2, 256), (1, 1024)])
def test_any_size_any_grid_any_start(blocks: int, threads: int) -> None:
    kernel = host.compile(REDUCE).get_function("reduce")
    for size in SIZES:
        for start in range(4):  # of which one is a multiple of 16 bytes
            x, total = odd_numbers(size + start)[start:], np.zeros(1, np.float32)
            kernel((blocks,), (threads,), (x, total, np.int64(size)))
            assert total[0] == x.sum(dtype=np.float64), (size, start)


@needs_compiler
def test_it_adds_to_what_total_holds() -> None:
    total = np.full(1, 10, np.float32)
    host.compile(REDUCE).get_function("reduce")((2,), (64,), (np.ones(99, np.float32), total, np.int64(99)))
    assert total[0] == 109


@needs_compiler
def test_term_is_what_an_element_adds() -> None:
    squares = host.compile(REDUCE, ("-DTERM(v)=((v)*(v))",)).get_function("reduce")
    for size in SIZES[:-1]:
        x, total = odd_numbers(size), np.zeros(1, np.float32)
        squares((3,), (64,), (x, total, np.int64(size)))
        assert total[0] == (x.astype(np.float64) ** 2).sum()


@needs_compiler
def test_no_byte_beside_the_array_and_no_race() -> None:
    for sanitize in ("address", "thread"):
        kernel = host.compile(REDUCE, sanitize=sanitize).get_function("reduce")
        for size in (3, 6, 130):
            x, total = odd_numbers(size), np.zeros(1, np.float32)
            kernel((2,), (64,), (x, total, np.int64(size)))
            assert total[0] == x.sum()


@needs_compiler
@pytest.mark.parametrize(("blocks", "threads"), [(1, 32), (4, 256)])
def test_the_error_stays_below_its_bound(blocks: int, threads: int) -> None:
    """An element goes through so many additions at most; each is off by at most 2^-24 of its result."""
    size = 2**22
    x, total = np.random.default_rng(1).random(size, np.float32), np.zeros(1, np.float32)
    host.compile(REDUCE).get_function("reduce")((blocks,), (threads,), (x, total, np.int64(size)))
    additions = size // 4 // (blocks * threads) + 2 + 2 + 5 + 5 + blocks
    exact = x.sum(dtype=np.float64)
    assert abs(total[0] - exact) <= additions * 2**-24 * exact


# --- the kernels with CUB --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["normalise", "scan", "long_scan"])
def test_cub_has_no_host_way(name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name}\.cuh has no host way: it uses CUB"):
        host.compile(kernels.path(name))


@pytest.mark.parametrize("name", ["normalise", "scan"])
def test_the_union_takes_the_largest_and_not_the_sum(name: str) -> None:
    transposing = ("-DLOAD=cub::BLOCK_LOAD_TRANSPOSE", "-DSTORE=cub::BLOCK_STORE_TRANSPOSE")
    tile = 128 * 16 * 4  # bytes: what a transposing load, and as much what a store, keeps in shared memory
    built = building.build(kernels.path(name), "nvrtc", "sm_90", options=transposing)
    assert tile <= max(needs.shared_bytes for needs in built.resources.values()) < 1.5 * tile


# --- the binding -----------------------------------------------------------------------------------------------------

X, Y = 0x7F00_0000_0000, 0x7F00_0010_0000  # addresses that nobody reads: the call ends before


class Exported:
    """Stands for an array of a library with __cuda_array_interface__."""

    def __init__(self, shape: tuple[int, ...], address: int, typestr: str = "<f4", read_only: bool = False) -> None:
        described = {"shape": shape, "typestr": typestr, "data": (address, read_only), "version": 3}
        self.__cuda_array_interface__ = described


@pytest.mark.parametrize(
    ("name", "x", "out", "error", "message"),
    [
        ("reduce", Exported((4,), X, "<f8"), Exported((1,), Y), TypeError, "x has dtype float64; wanted float32"),
        ("reduce", Exported((4,), X), Exported((2,), Y), ValueError, r"total has shape \(2,\); wanted one element"),
        ("reduce", Exported((4,), X), Exported((0,), Y), ValueError, r"total has shape \(0,\); wanted one element"),
        ("reduce", Exported((4,), X), Exported((1,), Y, read_only=True), ValueError, "total is read-only"),
        ("reduce", Exported((4,), X), Exported((1,), X + 8), ValueError, "total shares memory with x"),
        ("scan", Exported((4, 2), X), Exported((8,), Y), ValueError, r"y has shape \(8,\); wanted \(4, 2\), the shape"),
        ("scan", Exported((4, 2), X), Exported((4, 2), X), ValueError, "y shares memory with x"),
        ("scan", Exported((4, 2), X), Exported((4, 2), Y, "<f8"), TypeError, "y has dtype float64; wanted float32"),
    ],
)
def test_a_bad_argument_is_named(name: str, x: object, out: object, error: type[Exception], message: str) -> None:
    for same in {"reduce": ["reduce", "device_reduce"], "scan": ["scan", "device_scan", "long_scan"]}[name]:
        with pytest.raises(error, match=f"^{same}: {message}"):
            getattr(fourways_aot, same)(x, out)


@pytest.mark.parametrize("name", ["reduce", "device_reduce", "scan", "device_scan", "long_scan"])
def test_every_function_describes_itself(name: str) -> None:
    doc = getattr(fourways_aot, name).__doc__
    assert doc.startswith(f"{name}(x: object, {'y' if 'scan' in name else 'total'}: object, stream: object = None)")
    assert "float32" in doc and "errors raised" in doc


PROGRAM = r"""
#include "cub_storage.hpp"
#include <cstdio>
#include <cstdlib>

static int allocated = 0, refuses = 0;
extern "C" cudaError_t cudaMallocAsync(void **memory, size_t bytes, cudaStream_t)
{
    if (refuses)
        return cudaErrorMemoryAllocation;
    *memory = std::malloc(bytes);
    return ++allocated, cudaSuccess;
}
extern "C" cudaError_t cudaFreeAsync(void *memory, cudaStream_t)
{
    std::free(memory);
    return --allocated, cudaSuccess;
}

int main()
{
    for (int failing = 0; failing < 4; ++failing) { // nothing, the question, the memory, the work
        int runs = 0;
        refuses = failing == 2;
        const auto error = fourways::with_storage(nullptr, [&](void *storage, size_t &bytes) {
            if (!storage)
                return bytes = 100, failing == 1 ? cudaErrorInvalidValue : cudaSuccess;
            ++runs;
            return bytes == 100 && failing != 3 ? cudaSuccess : cudaErrorLaunchFailure;
        });
        std::printf("%d %d %d\n", error, runs, allocated);
    }
}
"""


@needs_compiler
def test_temporary_storage_is_freed_whatever_happens(root: Path, tmp_path: Path) -> None:
    program = tmp_path / "storage"
    folders = [f"-I{folder}" for folder in (root / "cpp" / "aot", *toolchain.include_dirs())]
    command = [str(toolchain.host_compiler()), "-std=c++17", *folders, "-x", "c++", "-", "-o", str(program)]
    subprocess.run(command, input=PROGRAM, text=True, check=True)
    outcomes = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split("\n")
    #                            error, runs, blocks of memory left
    assert outcomes[:4] == ["0 1 0", "1 0 0", "2 0 0", "719 1 0"]


# --- the lesson ------------------------------------------------------------------------------------------------------


def test_every_piece_of_cuda_shown_is_a_piece_of_a_file(root: Path) -> None:
    found = lesson.find("03")
    shown = re.findall(r"^```cuda\n(.*?)^```", found.path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    names = found.kernels
    files = [kernels.source(name) for name in names]
    files += [path.read_text(encoding="utf-8") for path in (root / "cpp" / "aot").glob("*.cu") if path.stem in names]
    assert len(shown) >= 2
    bare = [re.sub(r"\s|//.*", "", file) for file in files]  # the page is narrower: it breaks lines and moves comments
    for piece in shown:
        assert any(re.sub(r"\s|//.*", "", piece) in file for file in bare), piece
