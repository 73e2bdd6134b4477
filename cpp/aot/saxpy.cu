// The launch of cpp/kernels/saxpy.cuh, which is compiled here as it stands: VECTOR is its default, or -D's.

#include "saxpy.cuh"

#include <algorithm>

namespace fourways {

cudaError_t launch_saxpy(float a, const float *x, const float *y, float *z, long long n, cudaStream_t stream)
{
    constexpr long long threads = 256, most_blocks = 0x7fffffff; // of a grid in x; the kernel strides over the rest
    constexpr long long elements = threads * VECTOR;             // of a block
    if (n == 0)
        return cudaSuccess; // a grid of no blocks is an error
    const auto blocks = static_cast<unsigned>(std::min((n + elements - 1) / elements, most_blocks));
    saxpy<<<blocks, threads, 0, stream>>>(a, x, y, z, n);
    return cudaGetLastError();
}

} // namespace fourways
