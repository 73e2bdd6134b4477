// mulaw: y[i] = sign(x[i]) log(1 + mu |x[i]|) / log(1 + mu), as a telephone squeezes sound.

extern "C" __global__ void mulaw(const float *x, float *y, float mu, long long n) // CHANGE
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = copysignf(log1pf(mu * fabsf(x[i])) / log1pf(mu), x[i]); // CHANGE
}
