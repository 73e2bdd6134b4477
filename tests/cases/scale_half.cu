// y = a x in half precision, rounded once.
#include <cuda_fp16.h>

extern "C" __global__ void scale_half(const __half *__restrict__ x, __half *__restrict__ y, int n, __half a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __float2half(__half2float(a) * __half2float(x[i]));
}
