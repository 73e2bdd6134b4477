// The sum of x[i] * y[i]: each warp adds its part to the sum.
extern "C" __global__ void dot(const double *__restrict__ x, const double *__restrict__ y, double *sum, long n)
{
    double part = 0;
    for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x)
        part += x[i] * y[i];
    for (int lanes = 16; lanes; lanes /= 2)
        part += __shfl_down_sync(~0u, part, lanes);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, part);
}
