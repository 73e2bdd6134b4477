// The launch of cpp/kernels/reduce.cuh, which is compiled here as it stands, and the same sum by cub::DeviceReduce.

#include "cub_storage.hpp"

#include <cub/device/device_reduce.cuh>

#include "reduce.cuh" // after CUB, for the kernel's macros are none of its business

#include <algorithm>

namespace fourways {

cudaError_t launch_reduce(const float *x, float *total, long long n, cudaStream_t stream)
{
    constexpr long long threads = 512, most_blocks = 2048; // keeps a large GPU busy; each block adds to total once
    if (const cudaError_t error = cudaMemsetAsync(total, 0, sizeof *total, stream))
        return error;
    const auto blocks = static_cast<unsigned>(std::clamp((n / 4 + threads - 1) / threads, 1LL, most_blocks));
    reduce<<<blocks, threads, 0, stream>>>(x, total, n);
    return cudaGetLastError();
}

cudaError_t launch_device_reduce(const float *x, float *total, long long n, cudaStream_t stream)
{
    return with_storage(stream, [=](void *storage, size_t &bytes) {
        return cub::DeviceReduce::Sum(storage, bytes, x, total, n, stream);
    });
}

} // namespace fourways
