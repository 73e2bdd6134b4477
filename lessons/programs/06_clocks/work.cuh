// CHANGE: the kernel
extern "C" __global__ void work(const unsigned char *rgb, unsigned char *grey, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        grey[i] = (77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8;
}

extern "C" __global__ void delay(long long cycles) // keeps the GPU busy
{
    for (const long long start = clock64(); clock64() - start < cycles;)
        ;
}
