// doublify: y[i] = FACTOR * x[i] for i in [0, n)
//
// Compiled unchanged by NVRTC, NVCC and a C++ compiler with cpp/host/cuda_on_host.hpp.
// Macro: FACTOR, the multiplier (default 2).

#ifndef FACTOR
#define FACTOR 2
#endif

extern "C" __global__ void doublify(const float *__restrict__ x, float *__restrict__ y,
                                    long long n)
{
    const long long stride = (long long)gridDim.x * blockDim.x;
#pragma unroll 1 // mostly one round a thread: unrolling would cost more than it saves
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        y[i] = FACTOR * x[i];
}
