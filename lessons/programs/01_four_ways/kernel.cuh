// The length of the vector (x[i], y[i], z). The name is not that of a C function.
// CHANGE
extern "C" __global__ void length(const float *x, const float *y, float z, float *out,
                                  long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = sqrtf(x[i] * x[i] + y[i] * y[i] + z * z); // CHANGE
}
