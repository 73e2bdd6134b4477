__constant__ float taps[4];
__constant__ const int fixed[2] = {1, 2};
namespace lab { __device__ unsigned long long counts[3] = {1, 2, 3}, *unused; __device__ unsigned long long total; }
static __device__ struct { int low, high; } range{-1, 1};
extern "C" __global__ void sum(float *y)
{
    y[0] = taps[0] + taps[3] + fixed[1];
    atomicAdd(&lab::counts[2], 10ull);
    lab::total += range.high - range.low;
}
