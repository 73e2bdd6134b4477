// Conway's Game of Life on a torus: h rows of w cells, 1 is alive; and the loop over generations.

#include <utility>

typedef unsigned char Cell;

__global__ void life(const Cell *u, Cell *v, long long h, long long w)
{
    const long long x = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long y = (long long)blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int alive = 0; // of the nine cells around and at (y, x)
    for (int down = -1; down <= 1; ++down)
        for (int right = -1; right <= 1; ++right)
            alive += u[(y + down + h) % h * w + (x + right + w) % w];
    v[y * w + x] = alive == 3 || (alive == 4 && u[y * w + x]);
}

const char *launch(Cell *u, Cell *v, long long h, long long w, int steps, long long stream)
{
    const dim3 block(64, 4), grid((w + 63) / 64, (h + 3) / 4);
    for (; steps > 0; --steps, std::swap(u, v))
        life<<<grid, block, 0, (cudaStream_t)stream>>>(u, v, h, w);
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error); // null: no error
}
