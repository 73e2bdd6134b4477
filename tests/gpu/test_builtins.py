"""On a GPU: CUDA's built-in functions give what the table says."""

import cupy
import numpy as np
import pytest
from builtins_of_cuda import SCALARS, SOURCE, TOGETHER, misses

from fourways import toolchain



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
