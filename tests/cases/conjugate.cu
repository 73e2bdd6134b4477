// The complex conjugate of each number, in place.
#include <cuda/std/complex>

extern "C" __global__ void conjugate(cuda::std::complex<float> *z, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = cuda::std::conj(z[i]);
}
