// fir: y[i] = taps[0] * x[i] + taps[1] * x[i + 1] + ... for i in [0, n): a FIR filter of
// `length` taps, 1 or more. x has n + length - 1 elements.
//
// Compiled unchanged by NVRTC, NVCC and a C++ compiler with cpp/host/cuda_on_host.hpp.
// Macros: LENGTH, how many taps, if known (default 0: `length` says so at run time),
// TAPS, their values, as 0.25f,0.5f,0.25f (default: read from memory; TAPS sets LENGTH),
// CONSTANT, how many taps constant memory holds, in `fixed` (default: none; only on a GPU),
// OUTPUTS, neighbours that a thread computes at once: 1, 2, 4 or 8 (default 1).

#ifdef TAPS
__device__ constexpr float baked[] = {TAPS};
__device__ inline float tap(const float *, int k) { return baked[k]; }
#define LENGTH (int)(sizeof baked / sizeof *baked)
#elif defined CONSTANT
__constant__ float fixed[CONSTANT]; // the program copies the taps here
__device__ inline float tap(const float *, int k) { return fixed[k]; }
#else
__device__ inline float tap(const float *taps, int k) { return taps[k]; }
#endif
#ifndef LENGTH
#define LENGTH 0
#endif
#ifndef OUTPUTS
#define OUTPUTS 1
#endif

template <int known, int outputs> // the number of taps, or 0; outputs of a thread
__device__ void filter(const float *__restrict__ x, const float *__restrict__ taps,
                       int length, float *__restrict__ y, long long n)
{
    struct alignas(4 * outputs) Pack { float element[outputs]; }; // loaded, stored as one
    constexpr int packs = known ? (known + 2 * outputs - 2) / outputs : 1; // of a window
    const bool aligned = ((size_t)x | (size_t)y) % sizeof(Pack) == 0;
    const long long inputs = n + (known ? known : length) - 1;
    const long long stride = (long long)gridDim.x * blockDim.x * outputs;
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (long long i = thread * outputs; i < n; i += stride)
        if (known && aligned && i + packs * outputs <= inputs && i + outputs <= n) {
            Pack window[packs], sum = {}; // in registers: every index below is known
            for (int p = 0; p < packs; ++p)
                window[p] = ((const Pack *)(x + i))[p];
            for (int k = 0; k < known; ++k)
                for (int j = 0; j < outputs; ++j)
                    sum.element[j] +=
                        tap(taps, k) * window[(k + j) / outputs].element[(k + j) % outputs];
            *(Pack *)(y + i) = sum;
        } else {
#pragma unroll 1 // unrolling this loop would only make the code longer
            for (int j = 0; j < outputs && i + j < n; ++j) {
                float sum = 0;
                for (int k = 0; k < (known ? known : length); ++k)
                    sum += tap(taps, k) * x[i + j + k];
                y[i + j] = sum;
            }
        }
}

extern "C" __global__ void fir(const float *__restrict__ x, const float *__restrict__ taps,
                               int length, float *__restrict__ y, long long n)
{
    filter<LENGTH, OUTPUTS>(x, taps, length, y, n);
}
