// reverse: each block turns its blockDim.x elements round through shared memory. -DFORGET_BARRIER plants a race.

extern "C" __global__ void reverse(const float *x, float *y)
{
    __shared__ float all[1024];
    all[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
#ifndef FORGET_BARRIER
    __syncthreads();
#endif
    y[blockIdx.x * blockDim.x + threadIdx.x] = all[blockDim.x - 1 - threadIdx.x];
}
