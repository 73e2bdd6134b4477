// Right kernels that need their threads together: barriers, shuffles, votes, shared memory, atomics.

// y[i] = x[i] + x[n - 1 - i] for one block, whose threads from n on return before the barriers.
extern "C" __global__ void early_return(const int *x, int *y, int n)
{
    __shared__ int all[1024];
    if (threadIdx.x >= n)
        return;
    all[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    const int other = all[n - 1 - threadIdx.x];
    __syncthreads();
    all[threadIdx.x] = other;
    __syncwarp();
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

// Each block turns its blockDim.x elements round.
extern "C" __global__ void reverse(const float *x, float *y)
{
    __shared__ float all[1024];
    all[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = all[blockDim.x - 1 - threadIdx.x];
}

// The same, in dynamic shared memory.
extern "C" __global__ void reverse_dynamic(const float *x, float *y)
{
    extern __shared__ __align__(16) float dynamic[];
    dynamic[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = dynamic[blockDim.x - 1 - threadIdx.x];
}

// One row of y a function of the warp, one column a thread.
extern "C" __global__ void warp_functions(int *y, int width)
{
    const int lane = threadIdx.x, n = blockDim.x;
    const unsigned all = 0xffffffff;
    y[lane] = __shfl_sync(all, 100 + lane, 3, width);
    y[n + lane] = __shfl_up_sync(all, 100 + lane, 3, width);
    y[2 * n + lane] = __shfl_down_sync(all, 100 + lane, 3, width);
    y[3 * n + lane] = __shfl_xor_sync(all, 100 + lane, 5, width);
    y[4 * n + lane] = __popc(__ballot_sync(all, lane % 3 == 0));
    y[5 * n + lane] = __any_sync(all, lane % 32 == 5) + 2 * __any_sync(all, lane < 0);
    y[6 * n + lane] = __all_sync(all, lane % 32 != 5) + 2 * __all_sync(all, lane >= 0);
    y[7 * n + lane] = (int)__shfl_sync(all, 0.5 + lane, 2); // 8 bytes
}

// The halves of a warp shuffle apart from each other, and not equally often.
extern "C" __global__ void half_warps(int *y)
{
    int value = threadIdx.x;
    if (threadIdx.x % 32 < 16)
        for (int i = 0; i < 3; ++i)
            value = __shfl_xor_sync(0x0000ffff, value, 1 << i);
    else
        value = __shfl_xor_sync(0xffff0000, value, 8);
    y[threadIdx.x] = value;
}

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

// Each thread's neighbour, asked for with the mask of a whole warp, whose last lanes need not be there.
extern "C" __global__ void neighbours(int *y)
{
    y[threadIdx.x] = __shfl_xor_sync(0xffffffff, int(threadIdx.x), 1);
}
