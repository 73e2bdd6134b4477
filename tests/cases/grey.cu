// How bright each of n pixels of red, green and blue is (ITU-R BT.601), rounded.
extern "C" __global__ void grey(const unsigned char *__restrict__ rgb, unsigned char *__restrict__ y, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = (299 * rgb[3 * i] + 587 * rgb[3 * i + 1] + 114 * rgb[3 * i + 2] + 500) / 1000;
}
