// How many steps z -> z * z + c stay within a circle of radius 2, at most 100.
#include <cuda/std/complex>

using complex = cuda::std::complex<double>;

extern "C" __global__ void julia(const complex *__restrict__ z, short *__restrict__ steps, complex c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    complex w = z[i];
    short count = 0;
    for (; count < 100 && w.real() * w.real() + w.imag() * w.imag() <= 4; ++count)
        w = w * w + c;
    steps[i] = count;
}
