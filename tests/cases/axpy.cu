// y = a x + y, in place.
extern "C" __global__ void axpy(float a, const float *__restrict__ x, float *__restrict__ y, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}
