// Each complex number z times another, by.
extern "C" __global__ void rotate(const float2 *__restrict__ z, float2 *__restrict__ turned, int n, float2 by)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        turned[i] = make_float2(z[i].x * by.x - z[i].y * by.y, z[i].x * by.y + z[i].y * by.x);
}
