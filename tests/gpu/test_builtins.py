"""On a GPU: CUDA's built-in functions and groups give what the table says, and what the host way gives."""

from pathlib import Path

import cupy
import numpy as np
import pytest
from builtins_of_cuda import SCALARS, SOURCE, TOGETHER, misses

from fourways import host, toolchain

GROUPS = Path(__file__).parents[1] / "host" / "kernels" / "groups.cuh"


@pytest.fixture(autouse=True)
def tools() -> None:
    toolchain.activate()


@pytest.mark.parametrize("backend", ["nvrtc", "nvcc"])
def test_answers(backend: str) -> None:
    module = cupy.RawModule(code=SOURCE, backend=backend, options=("-std=c++17",))
    memory, alone, together = cupy.zeros(64, np.float32), cupy.zeros(len(SCALARS)), cupy.zeros((len(TOGETHER), 64))
    module.get_function("alone")((1,), (1,), (memory, alone))
    module.get_function("together")((1,), (64,), (together,))
    assert misses(alone.get(), together.get()) == []


def test_groups() -> None:
    by_gpu, by_host = cupy.RawModule(code=GROUPS.read_text(), backend="nvcc"), host.compile(GROUPS)
    numbers, x = np.arange(64, dtype=np.int32), np.arange(130, dtype=np.float32)
    for name, grid, block, arguments in (
        ("tiles", (1,), (64,), (np.zeros((9, 64), np.int32),)),
        ("sums", (1,), (64,), (numbers, np.zeros(1, np.int32), np.zeros(4, np.int32))),
        ("smooth", (2, 2), (8, 8), (x, np.zeros_like(x), np.int32(10), np.int32(13))),
    ):
        on_gpu = [cupy.asarray(each) if each.ndim else each for each in arguments]
        by_gpu.get_function(name)(grid, block, tuple(on_gpu))
        by_host.get_function(name)(grid, block, arguments)
        for got, right in zip(on_gpu, arguments, strict=True):
            np.testing.assert_allclose(cupy.asnumpy(got), right, rtol=1e-6)
