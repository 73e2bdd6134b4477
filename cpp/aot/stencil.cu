// The launches of cpp/kernels/stencil.cuh, which is compiled here as it stands: one step, and many.

#include "stencil.cuh"

#include <algorithm>
#include <utility>

namespace fourways {

cudaError_t launch_stencil(const float *u, float *v, long long h, long long w, cudaStream_t stream)
{
    constexpr long long most_x = 0x7fffffff, most_y = 65535; // blocks of a grid; the kernel strides over the rest
    const dim3 block(128, 2);
    const long long cells_x = block.x * COLUMNS, cells_y = block.y * ROWS; // of a block
    if (h == 0 || w == 0)
        return cudaSuccess; // a grid of no blocks is an error
    const auto blocks_x = static_cast<unsigned>(std::min((w + cells_x - 1) / cells_x, most_x));
    const auto blocks_y = static_cast<unsigned>(std::min((h + cells_y - 1) / cells_y, most_y));
    stencil<<<dim3(blocks_x, blocks_y), block, 0, stream>>>(u, v, h, w);
    return cudaGetLastError();
}

// `steps` of them, u and v in turns: the last one writes v if `steps` is odd, else u.
cudaError_t launch_stencil_steps(float *u, float *v, long long h, long long w, long long steps, cudaStream_t stream)
{
    for (; steps > 0; --steps) {
        if (const cudaError_t error = launch_stencil(u, v, h, w, stream))
            return error;
        std::swap(u, v);
    }
    return cudaSuccess;
}

} // namespace fourways
