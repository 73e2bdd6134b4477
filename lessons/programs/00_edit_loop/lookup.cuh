#define OFFSET 0 // run.py writes another number here

extern "C" __global__ void lookup(const unsigned char *image, const float *table,
                                  float *out, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = table[image[i]] + OFFSET;
}
