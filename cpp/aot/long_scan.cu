// The launch of cpp/kernels/long_scan.cuh, which is compiled here as it stands.

#include "cub_storage.hpp"
#include "long_scan.cuh"

#include <algorithm>

namespace fourways {

cudaError_t launch_long_scan(const float *x, float *y, long long n, cudaStream_t stream)
{
    constexpr long long tile = 4LL * QUADS * THREADS;
    const long long tiles = (n + tile - 1) / tile;
    if (n == 0)
        return cudaSuccess; // a grid of no blocks is an error

    int device = 0, processors = 0, blocks = 0; // blocks that a multiprocessor runs at once
    if (const cudaError_t error = cudaGetDevice(&device))
        return error;
    if (const cudaError_t error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device))
        return error;
    if (const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, long_scan, THREADS, 0))
        return error;
    const auto grid = static_cast<unsigned>(std::min(tiles, 1LL * processors * blocks));

    return with_storage(stream, [&](void *storage, size_t &bytes) {
        if (!storage)
            return bytes = tiles * sizeof(unsigned long long), cudaSuccess;
        if (const cudaError_t error = cudaMemsetAsync(storage, 0, bytes, stream))
            return error;
        void *arguments[] = {&x, &y, &storage, &n};
        return cudaLaunchCooperativeKernel(long_scan, grid, THREADS, arguments, 0, stream);
    });
}

} // namespace fourways
