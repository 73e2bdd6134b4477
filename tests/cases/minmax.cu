// The least and the greatest of n numbers, by one block; of none, infinity and its negative.
#include <cuda/std/limits>

extern "C" __global__ void minmax(const float *__restrict__ x, float *least, float *greatest, int n)
{
    __shared__ float low[256], high[256];
    const float infinity = cuda::std::numeric_limits<float>::infinity();
    float a = infinity, b = -infinity;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        a = fminf(a, x[i]), b = fmaxf(b, x[i]);
    low[threadIdx.x] = a, high[threadIdx.x] = b;
    for (int half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            low[threadIdx.x] = fminf(low[threadIdx.x], low[threadIdx.x + half]);
            high[threadIdx.x] = fmaxf(high[threadIdx.x], high[threadIdx.x + half]);
        }
    }
    if (threadIdx.x == 0)
        *least = low[0], *greatest = high[0];
}
