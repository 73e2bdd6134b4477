// fake_cuda.cpp, and in addition what nvcc's host code calls to launch a kernel: fake_log() has the launch's numbers.

#include "fake_cuda.cpp"

#include <cstdint>

namespace {
struct Shape {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
} pushed;
} // namespace

extern "C" {
void **__cudaRegisterFatBinary(void *) { return nullptr; }
void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {}
char __cudaInitModule(void **) { return 0; }
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *, uint3 *, dim3 *, dim3 *, int *) {}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
    return pushed = {grid, block, shared, stream}, 0;
}
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    *grid = pushed.grid, *block = pushed.block, *shared = pushed.shared;
    *static_cast<cudaStream_t *>(stream) = pushed.stream;
    return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function)
{
    return *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void *>(function)), cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3 grid, dim3 block, void **, size_t shared, cudaStream_t)
{
    return log("launch", grid.x, grid.y, grid.z, block.x, block.y, block.z, shared);
}
cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int value) { return log("allow", value); }
}
