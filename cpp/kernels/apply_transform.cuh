// apply_transform: y[i] = f(f(... f(x[i]))) for i in [0, n), with f = user_transform
//
// Compiled unchanged by NVRTC, NVCC and a C++ compiler with cpp/host/cuda_on_host.hpp.
// Macros: CALLS, how many calls an element gets (default 64); PLUGIN, if defined, leaves
// user_transform out: another unit defines it, and a linker joins the two.

#ifndef CALLS
#define CALLS 64
#endif

#ifdef PLUGIN
extern "C" __device__ float user_transform(float x);
#else
extern "C" __device__ float user_transform(float x) { return 0.99f * x + 0.5f; }
#endif

extern "C" __global__ void apply_transform(const float *__restrict__ x,
                                           float *__restrict__ y, long long n)
{
    const long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long stride = (long long)gridDim.x * blockDim.x;
#pragma unroll 1 // mostly one round a thread: unrolling would cost more than it saves
    for (long long i = first; i < n; i += stride) {
        float value = x[i];
        for (int call = 0; call < CALLS; ++call)
            value = user_transform(value);
        y[i] = value;
    }
}
