#include "length.cuh"

int launch(const float *x, const float *y, float *out, long long n)
{
    length<<<(n + 255) / 256, 256>>>(x, y, out, n); // grid, block
    return cudaGetLastError();
}
