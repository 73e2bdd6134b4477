// Kernels that fail, each in its own way.

extern "C" __global__ void no_guard(const float *x, float *y, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i];
}

extern "C" __global__ void reads(const float *x, float *y, long long place)
{
    y[0] = x[place];
}

extern "C" __global__ void writes(const float *x, float *y, long long place)
{
    y[place] = x[0];
}

extern "C" __global__ void writes_its_input(const float *x, float *y)
{
    y[0] = 1;
    if (threadIdx.x == 5)
        const_cast<float *>(x)[2] = 7;
}

extern "C" __global__ void divides(const int *x, int *y)
{
    y[threadIdx.x] = 100 / x[threadIdx.x];
}

extern "C" __global__ void never_ends(volatile int *y)
{
    while (y[blockIdx.x] == 3)
        ;
}

extern "C" __global__ void never_ends_after_a_barrier(volatile int *y)
{
    __syncthreads();
    while (y[0] == 3)
        ;
}

extern "C" __global__ void asserts(int *y)
{
    printf("thread %d is here\n", threadIdx.x);
    y[threadIdx.x] = 1;
    assert(threadIdx.x < 2);
}

extern "C" __global__ void traps(int *y)
{
    y[0] = 1;
    __trap();
}

__device__ int depth(volatile int *y, int n)
{
    volatile int room[256];
    room[n % 256] = n;
    return depth(y, n + 1) + room[n % 256] + y[0];
}

extern "C" __global__ void overflows_its_stack(volatile int *y)
{
    y[1] = depth(y, 0);
}

extern "C" __global__ void overflows_after_a_barrier(volatile int *y)
{
    __syncthreads();
    if (threadIdx.x == 3)
        y[1] = depth(y, 0);
}

extern "C" __global__ void past_dynamic_shared(float *y, int place)
{
    extern __shared__ float all[];
    y[0] = all[place];
}

extern "C" __global__ void babbles(int *y)
{
    for (;; ++y[0])
        printf("again and again\n");
}

__device__ int launches = 0;
extern "C" __global__ void counts_launches(int *y)
{
    y[0] = ++launches;
}

extern "C" __global__ void exits(int *y)
{
    y[0] = 1;
    _Exit(3);
}
