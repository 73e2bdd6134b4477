// The launch of cpp/kernels/colmeans.cuh, which is compiled here as it stands.

#include "colmeans.cuh"

namespace fourways {

cudaError_t launch_colmeans(const float *x, float *means, long long batch, long long rows, long long columns,
                            cudaStream_t stream)
{
    if (batch == 0 || columns == 0)
        return cudaSuccess; // a grid of no blocks is an error
    constexpr long long most_blocks = 0x7fffffff; // of a grid; the kernel strides over the rest
    const long long groups = (columns + COLUMNS - 1) / COLUMNS;
    const auto blocks = static_cast<unsigned>(batch < most_blocks / groups ? batch * groups : most_blocks);
    colmeans<<<blocks, THREADS, 0, stream>>>(x, means, batch, rows, columns);
    return cudaGetLastError();
}

} // namespace fourways
