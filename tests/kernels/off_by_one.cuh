// Planted bugs: each kernel goes one element too far in one kind of memory, unless -DTOO_FAR=0 stops it.

#ifndef TOO_FAR
#define TOO_FAR 1
#endif

extern "C" __global__ void reads_past_x(const float *x, float *y, long long n)
{
    for (long long i = threadIdx.x; i < n; i += blockDim.x)
        y[i] = x[i + TOO_FAR];
}

extern "C" __global__ void writes_past_y(const float *x, float *y, long long n)
{
    for (long long i = threadIdx.x; i < n; i += blockDim.x)
        y[i + TOO_FAR] = x[i];
}

extern "C" __global__ void writes_past_shared(float *y)
{
    __shared__ float all[32];
    all[threadIdx.x + TOO_FAR] = 1;
    y[threadIdx.x] = all[threadIdx.x];
}

extern "C" __global__ void writes_past_dynamic_shared(float *y)
{
    extern __shared__ float all[];
    all[threadIdx.x + TOO_FAR] = 1;
    y[threadIdx.x] = all[threadIdx.x];
}
