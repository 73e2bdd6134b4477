#include "band.h"

// Lifts numbers into a band, and hashes their places with a seed. Two outputs: the second has a key for each pair.
extern "C" __global__ void lift(const float *x, float *y, unsigned long long *keys, unsigned n, unsigned long long seed,
                                unsigned char shift, Band band)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = fminf(fmaxf(x[i] + shift, band.range.x), (float)band.range.y);
    if (i < n / 2)
        keys[i] = (i ^ seed) * band.odd;
}
