"""CUB's temporary storage is freed whatever fails (cub_storage.hpp), on an allocator that counts."""

import subprocess
from pathlib import Path

import pytest

from fourways import toolchain

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


def test_temporary_storage_is_freed_whatever_happens(root: Path, tmp_path: Path) -> None:
    compiler = toolchain.host_compiler() or pytest.skip(str(toolchain.missing("host compiler")))
    folders = [f"-I{folder}" for folder in (root / "cpp" / "aot", *toolchain.include_dirs())]
    program = tmp_path / "storage"
    command = [str(compiler), "-std=c++17", *folders, "-x", "c++", "-", "-o", str(program)]
    subprocess.run(command, input=PROGRAM, text=True, check=True)
    outcomes = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split("\n")
    #                            error, runs, blocks of memory left
    assert outcomes[:4] == ["0 1 0", "1 0 0", "2 0 0", "719 1 0"]
