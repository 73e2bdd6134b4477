// early_return: y[i] = x[i] + x[n - 1 - i] for one block, whose threads from n on return before the barriers.

extern "C" __global__ void early_return(const int *x, int *y, int n)
{
    __shared__ int all[1024];
    if (threadIdx.x >= n)
        return;
    all[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    const int other = all[n - 1 - threadIdx.x];
    __syncwarp();
    all[threadIdx.x] = other;
    __syncthreads();
    y[threadIdx.x] = x[threadIdx.x] + all[threadIdx.x];
}

// Some of the threads have run to their end before the first one meets a barrier.
extern "C" __global__ void late_barrier(int *y, int first)
{
    __shared__ int all[1024];
    if (threadIdx.x < first) {
        y[threadIdx.x] = -1;
        return;
    }
    all[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = all[blockDim.x - 1 - (threadIdx.x - first)];
}
