// A kernel that has no host way.

#include <cub/block/block_reduce.cuh>

extern "C" __global__ void block_sum(const float *x, float *y)
{
    using Reduce = cub::BlockReduce<float, 128>;
    __shared__ typename Reduce::TempStorage storage;
    const float sum = Reduce(storage).Sum(x[threadIdx.x]);
    if (threadIdx.x == 0)
        y[0] = sum;
}
