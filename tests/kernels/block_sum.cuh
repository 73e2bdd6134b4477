// block_sum: y[b] = the sum of the elements of x that block b walks over. Shuffles and static shared memory.

extern "C" __global__ void __launch_bounds__(1024)
    block_sum(const float *__restrict__ x, float *__restrict__ y, long long n)
{
    __shared__ float of_warp[32];
    float sum = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
        sum += x[i];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < (blockDim.x + 31) / 32 ? of_warp[threadIdx.x] : 0;
        for (int distance = 16; distance > 0; distance /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, distance);
        if (threadIdx.x == 0)
            y[blockIdx.x] = sum;
    }
}
