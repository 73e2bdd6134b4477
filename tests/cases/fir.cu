// y[i] = the sum of taps[k] * x[i + k], of n numbers y from n + TAPS - 1 numbers x.
#ifndef TAPS
#define TAPS 4
#endif

extern "C" __global__ void fir(const float *__restrict__ x, const float *__restrict__ taps, float *__restrict__ y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = 0; k < TAPS; ++k)
        sum += taps[k] * x[i + k];
    y[i] = sum;
}
