// y = the transpose of x (rows x columns), a tile at a time: with static, and with dynamic shared memory.

#ifndef TILE
#define TILE 16
#endif

__device__ void transpose_tile(const float *x, float *y, int rows, int columns, float *tile)
{
    int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
    if (row < rows && column < columns)
        tile[threadIdx.y * (TILE + 1) + threadIdx.x] = x[(long long)row * columns + column];
    __syncthreads();
    column = blockIdx.y * TILE + threadIdx.x, row = blockIdx.x * TILE + threadIdx.y;
    if (row < columns && column < rows)
        y[(long long)row * rows + column] = tile[threadIdx.x * (TILE + 1) + threadIdx.y];
}

extern "C" __global__ void transpose(const float *x, float *y, int rows, int columns)
{
    __shared__ float tile[TILE][TILE + 1];
    transpose_tile(x, y, rows, columns, &tile[0][0]);
}

extern "C" __global__ void transpose_dynamic(const float *x, float *y, int rows, int columns)
{
    extern __shared__ __align__(16) float tile[];
    transpose_tile(x, y, rows, columns, tile);
}
