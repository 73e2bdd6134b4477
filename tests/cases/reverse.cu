// Reverses each tile of 96 KB (24,576 numbers), the last one as long as it is, through shared memory.
#define TILE (96 * 1024 / 4)

extern "C" __global__ void reverse(const int *__restrict__ x, int *__restrict__ y, int n)
{
    extern __shared__ int tile[];
    const int first = blockIdx.x * TILE, count = min(TILE, n - first);
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        tile[i] = x[first + i];
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        y[first + i] = tile[count - 1 - i];
}
