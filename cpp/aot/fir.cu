// The launch of cpp/kernels/fir.cuh: compiled for any number of taps, and for each that FIR_LENGTHS lists.

#include "fir.cuh"

#include <algorithm>

#ifndef FIR_LENGTHS
#define FIR_LENGTHS 8, 16, 32
#endif

namespace fourways {

// Of one length, and four outputs a thread.
template <int known>
__global__ void fir_of(const float *__restrict__ x, const float *__restrict__ taps, int length, float *__restrict__ y,
                       long long n)
{
    filter<known, 4>(x, taps, length, y, n);
}

struct Choice {
    decltype(&fir) kernel;
    int outputs; // of a thread
};

// The kernel for just this length, if it is one of `known`; else the one for any.
template <int... known> Choice choose(int length)
{
    Choice choice{fir, OUTPUTS};
    ((length == known ? void(choice = {fir_of<known>, 4}) : void()), ...);
    return choice;
}

cudaError_t launch_fir(const float *x, const float *taps, int length, float *y, long long n, cudaStream_t stream)
{
    constexpr long long threads = 256, most_blocks = 0x7fffffff; // of a grid in x; the kernel strides over the rest
    const Choice choice = choose<FIR_LENGTHS>(length);
    const long long elements = threads * choice.outputs; // of a block
    if (n == 0)
        return cudaSuccess; // a grid of no blocks is an error
    const auto blocks = static_cast<unsigned>(std::min((n + elements - 1) / elements, most_blocks));
    choice.kernel<<<blocks, threads, 0, stream>>>(x, taps, length, y, n);
    return cudaGetLastError();
}

} // namespace fourways
