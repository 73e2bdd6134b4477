"""Files as people have them: host code, other kernels, templates, namespaces, and all spellings of shared memory."""

from pathlib import Path

import numpy as np
import pytest

from fourways import host

PROGRAM = Path(__file__).parent / "kernels" / "program.cu"


def test_each_kernel_of_a_whole_program() -> None:
    module = host.compile(PROGRAM, name_expressions=("generic<double>", "lab::twice"))
    assert module.names == ["wanted", "generic<double>", "lab::twice"]
    x, y = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    module.get_function("wanted")((1,), (8,), (x, y, 3))
    assert y.tolist() == [*range(3, 11)]
    module.get_function("lab::twice")((1,), (8,), (x, y))
    assert y.tolist() == [*range(0, 16, 2)]
    x, y = np.arange(8.0), np.zeros(8)
    module.get_function("generic<double>")((1,), (8,), (x, y))
    assert y.tolist() == [*range(1, 9)]
    with pytest.raises(host.CompileError, match=r"program\.cu:8:\d+: error: .*no_such_function"):
        module.get_function("broken")
    with pytest.raises(ValueError, match=r"program\.cu has no host way: it has inline PTX"):
        module.get_function("with_ptx")
    with pytest.raises(ValueError, match=r"program\.cu has no host way: a kernel launches kernels: check it on a GPU"):
        module.get_function("parent")
    with pytest.raises(host.CompileError, match='unwanted must be extern "C"'):
        module.get_function("unwanted")


def test_host_code_that_names_variables_and_kernels() -> None:
    kernel, y = host.compile(PROGRAM.with_name("host_calls.cu")).get_function("wanted"), np.zeros(1, np.int32)
    kernel((1,), (1,), (y,))
    assert y[0] == 1


DECLARATIONS = {
    "extern __shared__ float a[];": "",
    "extern __shared__ __align__(16) float a[];": "",
    "extern __shared__ float2 pairs[]; float *a = &pairs->x;": "",
    "extern __shared__ float rows[][64]; float *a = rows[0];": "",
    "extern __shared__ float a[], b[]; b[0] = a[0];": "",
    "static __shared__ float a[128];": "",
    "float __shared__ a[128];": "",
    "__shared__ struct { float a[128]; } s; float *a = s.a;": "",
    "": "extern __shared__ float a[];",
    " ": "namespace { __shared__ float a[128]; }",
    "  ": "extern __shared__ int whole[]; extern __shared__ float a[];",
    "float *a = of<float>();": "template <class T> __device__ T *of() { extern __shared__ T t[]; return t; }",
}


def test_all_spellings_of_shared_memory(tmp_path: Path) -> None:
    file = tmp_path / "spellings.cu"
    texts = [
        f"""namespace n{number} {{ {there}
extern "C" __global__ void flip{number}(const float *x, float *y)
{{
    {here}
    const int i = threadIdx.x;
    a[i] = x[i], a[i + 64] = -x[i];
    __syncthreads();
    y[i] = a[127 - i];
}} }}
"""
        for number, (here, there) in enumerate(DECLARATIONS.items())
    ]
    file.write_text("".join(texts))
    x, right = np.arange(64, dtype=np.float32), -np.arange(63, -1, -1, dtype=np.float32)
    for sanitize in (None, "address"):
        module = host.compile(file, sanitize=sanitize)
        for name in module.names:
            y = np.zeros(64, np.float32)
            module.get_function(name)((1,), (64,), (x, y), shared_mem=512)
            assert y.tolist() == right.tolist(), name
    with pytest.raises(
        host.KernelError, match=r"writes byte 256 of its dynamic shared memory, which has shared_mem=256"
    ):
        host.compile(file).get_function("flip0")((1,), (64,), (x, np.zeros(64, np.float32)), shared_mem=256)


def test_an_index_behind_shared_memory_leaves_the_program_whole() -> None:
    words = r"thread \(0, 0, 0\) of block \(0, 0, 0\) of far writes memory behind its __shared__ arrays"
    with pytest.raises(host.KernelError, match=words):
        host.compile(PROGRAM.with_name("far.cu")).get_function("far")((2,), (32,), (np.zeros(32, np.float32),))


def test_variables_of_a_module() -> None:
    module = host.compile(PROGRAM.with_name("variables.cu"))
    values = np.ndarray(4, np.float32, module.get_global("taps"))
    values[:] = [1, 2, 3, 4]
    y = np.zeros(1, np.float32)
    for _ in range(2):
        module.get_function("sum")((1,), (1,), (y,))
    assert y[0] == 7
    assert module.get_global("lab::counts").view(np.uint64).tolist() == [1, 2, 23]
    assert module.get_global("lab::total").view(np.uint64)[0] == 4
    with pytest.raises(
        ValueError, match="no variable 'fixed' in variables.cu that can be written; there are: taps, lab"
    ):
        module.get_global("fixed")
