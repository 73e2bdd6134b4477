// The launch of cpp/kernels/apply_transform.cuh, compiled here as it stands, with its own user_transform.

#include "apply_transform.cuh"

#include <algorithm>

namespace fourways {

cudaError_t launch_apply_transform(const float *x, float *y, long long n, cudaStream_t stream)
{
    constexpr long long threads = 256, most_blocks = 0x7fffffff; // of a grid in x; the kernel strides over the rest
    if (n == 0)
        return cudaSuccess; // a grid of no blocks is an error
    const auto blocks = static_cast<unsigned>(std::min((n + threads - 1) / threads, most_blocks));
    apply_transform<<<blocks, threads, 0, stream>>>(x, y, n);
    return cudaGetLastError();
}

} // namespace fourways
