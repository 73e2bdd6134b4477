// Unsigned numbers of every width, as arrays and by value: each element of y is x, and a number that is added.
#include <cuda/std/cstdint>

extern "C" __global__ void widths(const uint8_t *a, uint8_t *a_y, const unsigned short *b, unsigned short *b_y,
                                  const unsigned *c, uint32_t *c_y, const uint64_t *d, unsigned long long *d_y,
                                  uint8_t a_more, unsigned short b_more, uint32_t c_more, uint64_t d_more, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    a_y[i] = a[i] + a_more, b_y[i] = b[i] + b_more, c_y[i] = c[i] + c_more, d_y[i] = d[i] + d_more;
}
