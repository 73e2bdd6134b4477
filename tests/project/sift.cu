/* Nobody reads this comment as the package's description. */
#include <cuda_fp16.h>

__constant__ float taps[40];
namespace more {
__device__ int offset;
}

struct Kept {
    char name;
    double sum;
};

template <class T, int N>
__global__ void __launch_bounds__(256) sift(T *kept, const float4 *x, unsigned long long n, __half gain, float2 turn, bool flip)
{
    extern __shared__ float4 tile[]; // 64 KB, of which a block uses the end
    const unsigned long long i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
    float4 *const mine = tile + 4095 - threadIdx.x;
    if (i >= n)
        return;
    *mine = x[i];
    double sum = more::offset + turn.x - turn.y;
    for (int k = 0; k < N; ++k)
        sum += __half2float(gain) * taps[37 + k] * (&mine->x)[k];
    kept[i].sum += flip ? -sum : sum;
}
