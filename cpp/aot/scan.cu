// The launch of cpp/kernels/scan.cuh, which is compiled here as it stands, and one scan by all blocks: cub::DeviceScan.

#include "cub_storage.hpp"

#include <cub/device/device_scan.cuh>

#include "scan.cuh" // after CUB, for the kernel's macros are none of its business

#include <algorithm>

namespace fourways {

cudaError_t launch_scan(const float *x, float *y, long long rows, long long columns, cudaStream_t stream)
{
    constexpr long long most_blocks = 0x7fffffff; // of a grid in x; the kernel strides over the rest
    if (rows * columns == 0)
        return cudaSuccess; // a grid of no blocks is an error
    scan<<<static_cast<unsigned>(std::min(rows, most_blocks)), THREADS, 0, stream>>>(x, y, rows, columns);
    return cudaGetLastError();
}

cudaError_t launch_device_scan(const float *x, float *y, long long n, cudaStream_t stream)
{
    return with_storage(stream, [=](void *storage, size_t &bytes) {
        return cub::DeviceScan::InclusiveSum(storage, bytes, x, y, n, stream);
    });
}

} // namespace fourways
