"""Files as people have them: host code, other kernels, templates, namespaces, and all spellings of shared memory."""

from pathlib import Path

import numpy as np
import pytest

from fourways import host

PROGRAM = r"""
// The old loop was asm (by hand); see out/*.cu
#include <cstdio>
#include <vector>
template <class T> __global__ void generic(const T *x, T *y) { y[threadIdx.x] = x[threadIdx.x] + T(1); }
extern "C" __global__ void wanted(const float *x, float *y, int by = (1, 2)) { y[threadIdx.x] = x[threadIdx.x] + by; }
namespace lab { __global__ void twice(const float *x, float *y) { y[threadIdx.x] = 2 * x[threadIdx.x]; } }
extern "C" __global__ void broken(float *y) { y[0] = no_such_function(y[0]); }
extern "C" __global__ void with_ptx(float *y) { asm("trap;"); }
extern "C" __global__ void parent(float *y) { generic<float><<<1, 8>>>(y, y); }
__global__ static void unwanted(float *y) { y[0] = another_name; }
void check(cudaError_t error) { if (error) std::printf("<<< %s >>>\n", cudaGetErrorString(error)); }
int main()
{
    std::vector<float> x(8);
    float *a, *b;
    check(cudaMalloc(&a, 32)), check(cudaMalloc(&b, 32));
    check(cudaMemcpy(a, x.data(), 32, cudaMemcpyHostToDevice));
    generic<float><<<dim3(1), (x.size() + 7) / 8 * 8>>>(a, b);
    wanted<<<1, 8, 0, nullptr>>>(a, b, 3), lab::twice<<<1, 8>>>(a, b), unwanted<<<1, 1>>>(b);
    check(cudaDeviceSynchronize());
}
"""


def test_each_kernel_of_a_whole_program(tmp_path: Path) -> None:
    file = tmp_path / "program.cu"
    file.write_text(PROGRAM)
    module = host.compile(file, name_expressions=("generic<double>", "lab::twice"))
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


HOST_CALLS = r"""
#include <cstdio>
__device__ int count;
struct Knee { float low, high; };
__constant__ Knee knee;
extern "C" __global__ void wanted(int *y) { y[0] = ++count; if (y[0] < 0) printf("%d of %f\n", y[0], knee.low); }
int main(int number, char **words)
{
    const Knee given{1, 2};
    int blocks, block, found;
    cudaFuncAttributes attributes;
    switch (number) {  // a compiler makes a table of such a switch, which must not keep main
    case 0: cudaMemcpyToSymbol(knee, &given, sizeof given); break;
    case 1: cudaMemcpyFromSymbol(&found, count, sizeof found); break;
    case 2: cudaFuncSetAttribute(wanted, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536); break;
    case 3: cudaFuncGetAttributes(&attributes, wanted); break;
    case 4: cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, wanted, 256, 0); break;
    case 5: cudaOccupancyMaxPotentialBlockSize(&blocks, &block, wanted); break;
    default: std::puts(words[0]);
    }
}
"""


def test_host_code_that_names_variables_and_kernels() -> None:
    kernel, y = host.compile(HOST_CALLS).get_function("wanted"), np.zeros(1, np.int32)
    kernel((1,), (1,), (y,))
    assert y[0] == 1


DECLARATIONS = {  # in the function, or in the file: each of them twice 64 numbers
    "extern __shared__ float a[];": "",
    "extern volatile __shared__ float a[];": "",
    "__shared__ extern float a[];": "",
    "extern __shared__ __align__(16) float a[];": "",
    "extern __shared__ alignas(alignof(float4)) unsigned char bytes[]; float *a = (float *)bytes;": "",
    "extern __shared__ float2 pairs[]; float *a = &pairs->x;": "",
    "extern __shared__ float rows[][64]; float *a = rows[0];": "",
    "extern __shared__ float a[], b[]; b[0] = a[0];": "",
    "static __shared__ float a[128];": "",
    "__shared__ alignas(16) volatile float a[128];": "",
    "alignas(16) __shared__ float a[128];": "",
    "float __shared__ a[128];": "",
    "__shared__ struct { float a[128]; } s; float *a = s.a;": "",
    "__shared__ union alignas(8) { float f[128]; int i; } u; float *a = u.f;": "",
    "": "extern __shared__ float a[];",
    " ": "namespace { __shared__ float a[128]; }",
    "  ": "extern __shared__ int whole[]; extern __shared__ float a[];",
    "float *a = of<float>();": "template <class T> __device__ T *of() { extern __shared__ T t[]; return t; }",
    "typedef float row[64]; extern __shared__ row rows[]; float *a = rows[0];": "",
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
        host.compile(file).get_function("flip14")((1,), (64,), (x, np.zeros(64, np.float32)), shared_mem=256)


def test_an_index_behind_shared_memory_leaves_the_program_whole(tmp_path: Path) -> None:
    file = tmp_path / "far.cu"
    file.write_text("""extern "C" __global__ void far(float *y)
{
    __shared__ float tile[128];
    for (int k = 0; k < 4096; ++k)
        tile[threadIdx.x + 8 * k] = k;
    y[threadIdx.x] = tile[threadIdx.x];
}
""")
    words = r"thread \(0, 0, 0\) of block \(0, 0, 0\) of far writes memory behind its __shared__ arrays"
    with pytest.raises(host.KernelError, match=words):
        host.compile(file).get_function("far")((2,), (32,), (np.zeros(32, np.float32),))


def test_variables_of_a_module(tmp_path: Path) -> None:
    file = tmp_path / "variables.cu"
    file.write_text("""
__constant__ float taps[4];
__constant__ const int fixed[2] = {1, 2};
namespace lab { __device__ unsigned long long counts[3] = {1, 2, 3}, *unused; __device__ unsigned long long total; }
static __device__ struct { int low, high; } range{-1, 1};
extern "C" __global__ void sum(float *y)
{
    y[0] = taps[0] + taps[3] + fixed[1];
    atomicAdd(&lab::counts[2], 10ull);
    lab::total += range.high - range.low;
}
""")
    module = host.compile(file)
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
