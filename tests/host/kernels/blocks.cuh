// What blocks do to each other's elements: races, and what looks like one and is none.

extern "C" __global__ void adds_without_atomics(float *y)
{
    if (threadIdx.x == 0)
        y[0] += 1;
}

extern "C" __global__ void reads_what_a_neighbour_writes(float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1)
        y[i] = y[i + 1];
}

extern "C" __global__ void atomic_and_plain(int *y)
{
    if (blockIdx.x == 0)
        atomicAdd(&y[0], 1);
    else
        y[0] = 7;
}

// Elements of one byte, eight of them a word; every block reads all of x.
extern "C" __global__ void each_its_own(const float *x, unsigned char *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; ++k)
        sum += x[k];
    if (i < n)
        y[i] = sum;
}

// Each block's sum into parts, and by the last block to come the sum of all. Without FENCE the parts may come too late.
#ifndef FENCE
#define FENCE __threadfence()
#endif
__device__ unsigned arrived;
extern "C" __global__ void sum_by_the_last_block(const float *x, float *parts, float *y, int n)
{
    __shared__ float all[64];
    __shared__ bool last;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    all[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    for (int half = blockDim.x / 2; half; half /= 2) {
        if (threadIdx.x < half)
            all[threadIdx.x] += all[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = all[0];
        FENCE;
        last = atomicAdd(&arrived, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float sum = 0;
        for (int block = 0; block < gridDim.x; ++block)
            sum += parts[block];
        y[0] = sum;
        arrived = 0;
    }
}

// Each block adds to what the block before it handed on, behind a flag.
extern "C" __global__ void hand_on(float *sums, volatile int *ready)
{
    if (threadIdx.x)
        return;
    if (blockIdx.x)
        while (!ready[blockIdx.x - 1])
            ;
    sums[blockIdx.x] = blockIdx.x ? sums[blockIdx.x - 1] + 1 : 1;
    FENCE;
    ready[blockIdx.x] = 1;
}

// Two blocks write each element: the same value, if `by` is 0.
extern "C" __global__ void written_twice(int *y, int by)
{
    y[blockIdx.x / 2] = 7 + by * blockIdx.x;
}

extern "C" __global__ void every_atomic(unsigned *y)
{
    atomicAnd(&y[0], ~(1u << threadIdx.x));
    atomicOr_system(&y[1], 1u << threadIdx.x);
    atomicXor(&y[2], 1);
    atomicInc(&y[3], 99);
    atomicDec(&y[4], 99);
    atomicAdd_block(&y[5 + blockIdx.x], 1);
}
