// saxpy: z[i] = a * x[i] + y[i] for i in [0, n)
//
// Compiled unchanged by NVRTC, NVCC and a C++ compiler with cpp/host/cuda_on_host.hpp.
// Macro: VECTOR, how many floats a thread moves at once: 1, 2 or 4 (default 4).

#ifndef VECTOR
#define VECTOR 4
#endif

struct alignas(4 * VECTOR) Pack { // like float4: one instruction loads or stores it
    float element[VECTOR];
};

extern "C" __global__ void saxpy(float a, const float *__restrict__ x,
                                 const float *__restrict__ y, float *__restrict__ z,
                                 long long n)
{
    const long long stride = (long long)gridDim.x * blockDim.x;
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const bool aligned = ((size_t)x | (size_t)y | (size_t)z) % sizeof(Pack) == 0;
    const long long packs = aligned ? n / VECTOR : 0;
#pragma unroll 1 // mostly one round a thread: unrolling would cost more than it saves
    for (long long i = thread; i < packs; i += stride) {
        const Pack p = ((const Pack *)x)[i], q = ((const Pack *)y)[i];
        Pack sum;
        for (int k = 0; k < VECTOR; ++k)
            sum.element[k] = a * p.element[k] + q.element[k];
        ((Pack *)z)[i] = sum;
    }
#pragma unroll 1 // what is left over; everything, if an array starts between two packs
    for (long long i = VECTOR * packs + thread; i < n; i += stride)
        z[i] = a * x[i] + y[i];
}
