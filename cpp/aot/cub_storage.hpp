// Temporary storage for CUB's device-wide algorithms.
#pragma once

#include <cuda_runtime_api.h>

namespace fourways {

// algorithm(void *storage, size_t &bytes) -> cudaError_t is called as CUB wants it: first with no storage, to hear how
// many bytes it needs, then to work in them. They are allocated and freed in the stream's own order, so nobody waits.
// They come from the device's default pool. It gives memory back to the system when the stream is synchronized, and the
// next call then takes longer on the host; an application that minds sets the pool's cudaMemPoolAttrReleaseThreshold.
template <class Algorithm> cudaError_t with_storage(cudaStream_t stream, Algorithm &&algorithm)
{
    size_t bytes = 0;
    void *storage = nullptr;
    if (const cudaError_t error = algorithm(nullptr, bytes))
        return error;
    if (const cudaError_t error = cudaMallocAsync(&storage, bytes, stream))
        return error;
    const cudaError_t error = algorithm(storage, bytes);
    const cudaError_t freed = cudaFreeAsync(storage, stream);
    return error ? error : freed;
}

} // namespace fourways
