// C = A B, matrices of 16 x 16, by a block of 16 x 16.
extern "C" __global__ void product(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c)
{
    float sum = 0;
    for (int k = 0; k < 16; ++k)
        sum += a[16 * threadIdx.y + k] * b[16 * k + threadIdx.x];
    c[16 * threadIdx.y + threadIdx.x] = sum;
}
