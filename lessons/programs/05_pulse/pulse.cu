// FitzHugh and Nagumo's nerve on a torus: a voltage u spreads, and v follows it and calms it down.

#include "pulse.hpp"
#include <utility>

__global__ void pulse(Field u, Field v, Field new_u, Field new_v, float dt) // CHANGE: the kernel
{
    const long long x = (long long)blockIdx.x * blockDim.x + threadIdx.x, w = u.w;
    const long long y = (long long)blockIdx.y * blockDim.y + threadIdx.y, h = u.h;
    if (x >= w || y >= h) return;
    const long long i = y * w + x;
    const float a = u.data[i], b = v.data[i];
    const float up_down = u.data[(y + h - 1) % h * w + x] + u.data[(y + 1) % h * w + x];
    const float left_right = u.data[y * w + (x + w - 1) % w] + u.data[y * w + (x + 1) % w];
    new_u.data[i] = a + dt * ((up_down + left_right) - 4 * a + a - a * a * a - b);
    new_v.data[i] = b + dt * 0.1f * (a - b);
}

const char *launch(Field u, Field v, Field new_u, Field new_v, float dt, int steps, long long stream) // CHANGE
{
    if (u.h == 0 || u.w == 0) return nullptr; // CUDA refuses an empty grid, and one of over 65,535 rows of blocks
    const dim3 block(64, 4), grid((u.w + 63) / 64, (u.h + 3) / 4); // CHANGE: a thread for each cell
    for (; steps > 0; --steps) {
        pulse<<<grid, block, 0, (cudaStream_t)stream>>>(u, v, new_u, new_v, dt); // CHANGE
        std::swap(u, new_u); // CHANGE: each field trades places with its new values
        std::swap(v, new_v); // CHANGE
    }
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error); // null: no error
}
