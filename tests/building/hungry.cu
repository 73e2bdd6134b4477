extern "C" __global__ void hungry(float* x, int n)
{
    __shared__ float tile[256];
    tile[threadIdx.x] = x[threadIdx.x]; __syncthreads();
    float v[64];
    #pragma unroll
    for (int i = 0; i < 64; i++) v[i] = x[i * n] * tile[i];
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 64; i++) x[i * n + 1] = v[i] * v[63 - i];
}
extern "C" __global__ void frugal(float* x) { *x = 1; }
