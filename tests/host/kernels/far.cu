extern "C" __global__ void far(float *y)
{
    __shared__ float tile[128];
    for (int k = 0; k < 4096; ++k)
        tile[threadIdx.x + 8 * k] = k;
    y[threadIdx.x] = tile[threadIdx.x];
}
