// Every thread of the grid works on the same cells. The float sum is exact as long as it stays below 2^24.

extern "C" __global__ void atomics(int *cells, unsigned long long *count, float *sum, int *histogram)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&cells[0], 2);
    atomicSub(&cells[1], 1);
    atomicMax(&cells[2], i);
    atomicMin(&cells[3], -i);
    atomicCAS(&cells[4], 0, 7);
    atomicAdd(count, 1);
    atomicAdd(sum, 0.5);
    __shared__ int bins[4];
    if (threadIdx.x < 4)
        atomicExch(&bins[threadIdx.x], 0);
    __syncthreads();
    atomicAdd(&bins[i % 4], 1);
    __syncthreads();
    if (threadIdx.x < 4)
        atomicAdd(&histogram[threadIdx.x], bins[threadIdx.x]);
}
