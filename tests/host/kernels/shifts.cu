extern "C" __global__ void mine(const float *x, float *y, long long n)
{
    __shared__ float s[256];
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : 0;
    BETWEEN;
    if (GUARD)
        y[i] = s[INDEX];
}
