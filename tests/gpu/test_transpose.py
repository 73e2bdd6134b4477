"""Transpose on a GPU: its binding for any shape, and what lesson 04 says of PyCUDA, in case it changes."""

import subprocess
import sys
from collections.abc import Callable

import cupy
import numpy as np
import pytest
from protocols import Dlpack, Interface

import fourways_aot
from fourways import lesson, toolchain, ways

transpose = fourways_aot.transpose
SHAPES = [(0, 0), (0, 5), (5, 0), (1, 1), (1, 33), (33, 1), (31, 33), (64, 64), (65, 127), (7, 1009), (1000, 1001)]


@pytest.mark.parametrize("wrap", [lambda a: a, Interface, Dlpack], ids=["cupy", "interface", "dlpack"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_binding_is_right_for_any_shape(shape: tuple[int, int], wrap: Callable[[object], object]) -> None:
    a = cupy.random.default_rng(5).standard_normal(shape, dtype=cupy.float32)
    around = cupy.full(a.size + 128, cupy.nan, cupy.float32)
    b = around[64 : 64 + a.size].reshape(shape[::-1])
    assert transpose(wrap(a), wrap(b)) is None
    assert (b == a.T).all()
    b.fill(cupy.nan)
    assert cupy.isnan(around).all(), "wrote outside of b"


@pytest.mark.parametrize("shape", [(65_535 * 64 + 33, 3), (3, 65_535 * 64 + 33)])
@pytest.mark.parametrize("way", ["nvrtc", "nvcc", "pycuda", "pybind11"])
def test_taller_than_a_grid(shape: tuple[int, int], way: str) -> None:
    """A grid has at most 65,535 blocks in y; the kernel goes on from there."""
    if reason := ways.missing(way):
        pytest.skip(reason)
    a = cupy.random.default_rng(5).standard_normal(shape, dtype=cupy.float32)
    b = cupy.full(shape[::-1], cupy.nan, cupy.float32)
    lesson.load(lesson.find("04")).functions[way](a, b)
    assert (b == a.T).all()


def test_more_than_two_to_the_31_elements() -> None:
    h, w = 46_341, 46_349
    if cupy.cuda.runtime.memGetInfo()[0] < 3 * 4 * h * w:
        pytest.skip("needs 26 GB of free GPU memory")
    a = cupy.random.default_rng(5).standard_normal((h, w), dtype=cupy.float32)
    b = cupy.full((w, h), cupy.nan, cupy.float32)
    transpose(a, b)
    assert all((b[i : i + 4096] == a[:, i : i + 4096].T).all() for i in range(0, w, 4096))
    del a, b
    cupy.get_default_memory_pool().free_all_blocks()


def test_a_bad_argument_leaves_the_output_alone() -> None:
    a, b = cupy.ones((4, 4), cupy.float32), cupy.full((4, 4), cupy.nan, cupy.float32)
    for bad_a, bad_b, error in (
        (a.T, b, ValueError),  # a view: other strides, the same memory
        (a.ravel(), b, ValueError),
        (a[:2], b, ValueError),
        (b, b, ValueError),
        (a.astype(cupy.float64), b, TypeError),
        (a.get(), b, TypeError),
    ):
        with pytest.raises(error, match=r"^transpose: "):
            transpose(bad_a, bad_b)
    cupy.cuda.Device().synchronize()
    assert cupy.isnan(b).all()


def test_a_named_stream_is_the_one() -> None:
    """A graph of the stream holds the launch."""
    a, b = cupy.ones((65, 127), cupy.float32), cupy.full((127, 65), cupy.nan, cupy.float32)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
    transpose(a, b, stream=stream)
    with stream:
        graph = stream.end_capture()
    assert cupy.isnan(b).all()
    graph.launch(stream)
    stream.synchronize()
    assert (b == 1).all()


@pytest.mark.parametrize("backend", ["nvrtc", "nvcc"])
def test_cupy_links_the_library_with_which_kernels_launch_kernels(backend: str) -> None:
    """What lesson 04 says of CuPy's `-dc`, in case it changes."""
    if backend == "nvcc" and (reason := toolchain.missing("nvcc")):
        pytest.skip(reason)
    toolchain.activate()
    text = """
__global__ void set(int *x) { *x = 7; }
extern "C" __global__ void start(int *x) { set<<<1, 1>>>(x); }
"""
    x = cupy.zeros(1, np.int32)
    cupy.RawModule(code=text, backend=backend, options=("-dc",)).get_function("start")((1,), (1,), (x,))
    assert int(x[0]) == 7


# --- what lesson 04 says of PyCUDA -----------------------------------------------------------------------------------


CONTEXT = """
import {module}
import cupy as cp
from pycuda.compiler import SourceModule
twice = SourceModule("__global__ void twice(float *x) {{ x[threadIdx.x] *= 2; }}").get_function("twice")
cp.cuda.Device(0).use()
x = cp.ones(3, cp.float32)
try:
    twice(x, block=(3, 1, 1))
except Exception as error:
    print(error)
print(x)
"""


@pytest.mark.parametrize(
    ("module", "printed"),
    [("pycuda.autoinit", "invalid resource handle\n[1. 1. 1.]"), ("pycuda.autoprimaryctx", "[2. 2. 2.]")],
)
def test_the_context_decides(module: str, printed: str) -> None:
    if reason := toolchain.missing("pycuda"):
        pytest.skip(reason)
    program = CONTEXT.format(module=module)
    variables = toolchain.child_environment()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=variables)
    assert done.stdout.endswith(printed + "\n"), done


def test_pycuda_sees_an_edited_header_only_behind_a_plain_include(tmp_path) -> None:
    if reason := toolchain.missing("pycuda"):
        pytest.skip(reason)
    toolchain.activate()
    import pycuda.autoprimaryctx  # noqa: F401  # makes the context
    from pycuda import driver
    from pycuda.compiler import SourceModule

    header = tmp_path / "number.h"

    def number(first_line: str) -> float:
        text = first_line + '\nextern "C" __global__ void write(float *y) { *y = NUMBER; }'
        folders = {"include_dirs": [str(tmp_path)], "cache_dir": str(tmp_path)}
        y = np.zeros(1, np.float32)
        kernel = SourceModule(text, no_extern_c=True, **folders).get_function("write")
        kernel(driver.Out(y), grid=(1, 1), block=(1, 1, 1))
        return float(y[0])

    for first_line, after in (('#include "number.h"', 2), ('# include "number.h"', 1)):
        header.write_text("#define NUMBER 1\n")
        assert number(first_line) == 1
        header.write_text("#define NUMBER 2\n")
        assert number(first_line) == after
