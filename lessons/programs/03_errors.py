"""How far is y from x? The mean squared and the largest difference in one pass, in a few blocks and in many."""

import cupy as cp
import numpy as np

kernel = cp.RawKernel(
    r"""
__device__ void over_the_warp(float &sum, float &most) // the results arrive in lane 0
{
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance);
        most = fmaxf(most, __shfl_down_sync(0xffffffff, most, distance));
    }
}
extern "C" __global__ void errors(const float *x, const float *y, double *squares, unsigned *largest, long long n)
{
    float sum = 0, most = 0;
    const long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        sum += (x[i] - y[i]) * (x[i] - y[i]);
        most = fmaxf(most, fabsf(x[i] - y[i]));
    }
    __shared__ float sums[32], mosts[32];
    over_the_warp(sum, most);
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = sum;
        mosts[threadIdx.x / 32] = most;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
        most = threadIdx.x < blockDim.x / 32 ? mosts[threadIdx.x] : 0;
        over_the_warp(sum, most);
        if (threadIdx.x == 0) {
            atomicAdd(squares, (double)sum);
            atomicMax(largest, __float_as_uint(most)); // floats from 0 on have the order of their bits
        }
    }
}
""",
    "errors",
)
n, processors = 2**26, cp.cuda.Device().attributes["MultiProcessorCount"]
x, y = cp.random.default_rng(1).random((2, n), dtype=cp.float32)
squares, largest = cp.zeros(1, cp.float64), cp.zeros(1, cp.float32)  # no total stops growing in a double
right = float(cp.mean((x - y).astype(cp.float64) ** 2)), float(abs(x - y).max())
start, stop = cp.cuda.Event(), cp.cuda.Event()
for blocks in (processors, 4 * processors, 16 * processors, 64 * processors, n // 512):
    taken = []
    for _ in range(20):
        squares.fill(0)
        largest.fill(0)
        cp.subtract(x, y)  # keeps the GPU busy while the host queues the kernel
        start.record()
        kernel((blocks,), (512,), (x, y, squares, largest, np.int64(n)))
        stop.record()
        stop.synchronize()
        taken.append(cp.cuda.get_elapsed_time(start, stop) * 1e3)  # µs
    assert np.isclose(float(squares[0]) / n, right[0], rtol=1e-5) and float(largest[0]) == right[1]
    print(f"{blocks:7,} blocks: {np.median(taken):4.0f} µs, {8 * n / np.median(taken) / 1e6:.2f} TB/s")
