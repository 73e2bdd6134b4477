// Kernels with planted bugs: accesses one element too far (unless too_far is 0), lanes that never meet.

extern "C" __global__ void reads_past_x(const float *x, float *y, long long n, int too_far)
{
    for (long long i = threadIdx.x; i < n; i += blockDim.x)
        y[i] = x[i + too_far];
}

extern "C" __global__ void writes_past_y(const float *x, float *y, long long n, int too_far)
{
    for (long long i = threadIdx.x; i < n; i += blockDim.x)
        y[i + too_far] = x[i];
}

extern "C" __global__ void writes_past_shared(float *y, int too_far)
{
    __shared__ float all[32];
    all[threadIdx.x + too_far] = 1;
    y[threadIdx.x] = all[threadIdx.x];
}

extern "C" __global__ void writes_past_dynamic_shared(float *y, int too_far)
{
    extern __shared__ float all[];
    all[threadIdx.x + too_far] = 1;
    y[threadIdx.x] = all[threadIdx.x];
}

// The second half of a warp waits for lanes that wait elsewhere.
extern "C" __global__ void never_meet(int *y)
{
    if (threadIdx.x < 16)
        __syncthreads();
    else
        y[threadIdx.x] = __shfl_sync(0xffffffff, 1, 0);
    __syncthreads();
}

// In the first block lanes wait for lanes that wait elsewhere; the second block would end its program.
extern "C" __global__ void only_the_first_block_runs(int *y)
{
    if (blockIdx.x > 0)
        __trap();
    if (threadIdx.x < 16)
        __syncthreads();
    else
        y[threadIdx.x] = __shfl_sync(0xffffffff, 1, 0);
    __syncthreads();
}

// The halves of a block wait in two barriers.
extern "C" __global__ void two_barriers(int *y, int half)
{
    if (threadIdx.x < half)
        __syncthreads();
    else
        __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
