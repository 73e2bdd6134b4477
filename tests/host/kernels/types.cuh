// Types and headers: vector types, scalars of every kind, libcu++, constants, no barrier.

#include <cuda/std/cmath>
#include <cuda/std/limits>

#ifndef T
#define T float
#endif

__constant__ T weights[3] = {1, 2, 4};

extern "C" __global__ void add_one(const float4 *x, float4 *y, long long n4)
{
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
        const float4 v = __ldg(&x[i]);
        y[i] = make_float4(v.x + 1, v.y + 1, v.z + 1, v.w + 1);
    }
}

extern "C" __global__ void scalars(double *y, int i, unsigned char c, float f, double d, bool b, long long n)
{
    y[0] = i, y[1] = c, y[2] = f, y[3] = d, y[4] = b, y[5] = n;
    y[6] = cuda::std::sqrt(16.0), y[7] = cuda::std::numeric_limits<T>::max(), y[8] = weights[0] + weights[2];
}

extern "C" __global__ void any_bytes(void *y, short n)
{
    for (int i = 0; i < n; ++i)
        static_cast<unsigned char *>(y)[i] = 7;
}

extern "C" __global__ void says(int number)
{
    printf("thread %d says %d\n", (int)threadIdx.x, number);
}

extern "C" __global__ void where(int *y)
{
    const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const int i = block * blockDim.x * blockDim.y * blockDim.z + thread;
    y[i] = 1000000 * blockIdx.z + 100000 * blockIdx.y + 10000 * blockIdx.x +
           100 * threadIdx.z + 10 * threadIdx.y + threadIdx.x;
}
