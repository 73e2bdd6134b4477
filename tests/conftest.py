"""What all tests share."""

from pathlib import Path

import pytest

import fourways

ROOT = Path(__file__).parents[1]
assert Path(fourways.__file__).is_relative_to(ROOT), f"the tests of {ROOT} would test {fourways.__file__}: make setup"


TWO_KERNELS = """
__global__ void light(float *x) { x[threadIdx.x] = 1; }
extern "C" __global__ void heavy(float *x)
{
    __shared__ float s[SIZE];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[SIZE - 1 - threadIdx.x];
}
"""


@pytest.fixture(scope="session")
def root() -> Path:
    """The clone."""
    return ROOT


@pytest.fixture
def two_kernels(tmp_path: Path) -> Path:
    """A file of one kernel with a mangled name and one with `extern "C"`, which needs the macro SIZE."""
    file = tmp_path / "two.cu"
    file.write_text(TWO_KERNELS)
    return file
