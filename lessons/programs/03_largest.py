"""How far is y from x? The largest difference in one pass, in a few blocks and in many, and by CuPy."""

from functools import partial

import cupy as cp
import numpy as np

NEUTRAL = np.float32(-np.inf)  # combine(NEUTRAL, a) gives a, for every a
bits = f"__uint_as_float({NEUTRAL.view(np.uint32)}u)"  # the same number in CUDA's words
text = r"""
__device__ float combine(float a, float b) { return fmaxf(a, b); }
__device__ float over_the_warp(float value) // the result arrives in lane 0
{
    for (int distance = 16; distance > 0; distance /= 2)
        value = combine(value, __shfl_down_sync(0xffffffff, value, distance));
    return value;
}
extern "C" __global__ void largest(const float *x, const float *y, float *result, long long n)
{
    float value = NEUTRAL;
    const long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        value = combine(value, fabsf(x[i] - y[i]));
    __shared__ float warps[32];
    value = over_the_warp(value);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    value = over_the_warp(threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : NEUTRAL);
    int seen = *(volatile int *)result, now; // an atomic `combine`: again, if another block came in between
    while (threadIdx.x == 0
           && (now = atomicCAS((int *)result, seen, __float_as_int(combine(__int_as_float(seen), value)))) != seen)
        seen = now;
}
extern "C" __global__ void delay(long long cycles) { for (long long start = clock64(); clock64() - start < cycles;); }
"""
module = cp.RawModule(code=text, options=(f"-DNEUTRAL={bits}",))
largest, delay = module.get_function("largest"), module.get_function("delay")
terms = "float32 x, float32 y", "float32 most", "abs(x - y)", "fmaxf(a, b)", "most = a", bits
n, processors = 2**26, cp.cuda.Device().attributes["MultiProcessorCount"]
x, y = cp.random.default_rng(1).random((2, n), dtype=cp.float32)
result, copied = cp.empty(1, cp.float32), cp.empty_like(x)
counts = (processors, 4 * processors, 64 * processors, n // 512)
calls = {f"{k:,} blocks": partial(largest, (k,), (512,), (x, y, result, np.int64(n))) for k in counts}
calls |= {"abs(x - y).max()": lambda: abs(x - y).max(), "ReductionKernel": partial(cp.ReductionKernel(*terms), x, y)}
calls |= {"copy": partial(copied.data.copy_from_device_async, x.data, x.nbytes)}
right, start, stop = np.abs(x.get() - y.get()).max(), cp.cuda.Event(), cp.cuda.Event()
for name, call in calls.items():
    taken = []
    for _ in range(20):
        result.fill(NEUTRAL)
        delay((1,), (1,), (np.int64(400_000),))  # keeps the GPU busy until all is queued
        start.record()
        came = call()
        stop.record()
        stop.synchronize()
        taken.append(cp.cuda.get_elapsed_time(start, stop) * 1e3)  # µs
    assert name == "copy" or float(result[0] if came is None else came) == right, name
    print(f"{name:16} {np.median(taken):8,.0f} µs, {8 * n / np.median(taken) / 1e6:5.2f} TB/s")
