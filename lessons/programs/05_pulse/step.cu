// FitzHugh and Nagumo's nerve on a torus: a voltage u spreads, v follows and calms it

#include "field.hpp"
#include <utility>

// CHANGE: the kernel
__global__ void kernel(Field u, Field v, Field new_u, Field new_v, float dt)
{
    const long long x = (long long)blockIdx.x * blockDim.x + threadIdx.x, w = u.w;
    const long long y = (long long)blockIdx.y * blockDim.y + threadIdx.y, h = u.h;
    if (x >= w || y >= h) return;
    // around the torus
    const long long left = x > 0 ? x - 1 : w - 1, right = x < w - 1 ? x + 1 : 0;
    const long long above = y > 0 ? y - 1 : h - 1, below = y < h - 1 ? y + 1 : 0;
    const long long i = y * w + x;
    const float a = u.data[i], b = v.data[i];
    const float up_down = u.data[above * w + x] + u.data[below * w + x];
    const float left_right = u.data[y * w + left] + u.data[y * w + right];
    new_u.data[i] = a + dt * ((up_down + left_right) - 4 * a + a - a * a * a - b);
    new_v.data[i] = b + dt * 0.1f * (a - b);
}

// CHANGE
const char *launch(Field u, Field v, Field new_u, Field new_v, float dt, int steps,
                   long long stream)
{
    // CUDA refuses an empty grid, and one of over 65,535 rows of blocks
    if (u.h == 0 || u.w == 0) return nullptr;
    // A thread for each cell. Other blocks of at most 1,024 threads are right, too.
    const dim3 block(64, 4), grid((u.w + block.x - 1) / block.x, (u.h + block.y - 1) / block.y);
    for (; steps > 0; --steps) {
        kernel<<<grid, block, 0, (cudaStream_t)stream>>>(u, v, new_u, new_v, dt); // CHANGE
        std::swap(u, new_u); // CHANGE: each field trades places with its new values
        std::swap(v, new_v); // CHANGE
    }
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error); // null: no error
}
