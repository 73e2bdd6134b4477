// Adds to each of 256 counts how often its number is byte >> shift, for n bytes.
extern "C" __global__ void histogram(const unsigned char *__restrict__ x, int *counts, unsigned long long n, int shift)
{
    __shared__ int mine[256];
    for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x)
        mine[bin] = 0;
    __syncthreads();
    const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        atomicAdd(&mine[x[i] >> shift], 1);
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x)
        atomicAdd(&counts[bin], mine[bin]);
}
