// reduce: total[0] += TERM(x[0]) + ... + TERM(x[n - 1]); set total[0] to 0 first
//
// Compiled unchanged by NVRTC, NVCC and a C++ compiler with cpp/host/cuda_on_host.hpp.
// For any grid, and blocks of a multiple of 32 threads.
// Macro: TERM(v), what an element v adds to the sum (default v).

#ifndef TERM
#define TERM(v) (v)
#endif

// The sum over a warp's 32 lanes, in lane 0: five times, the upper half goes to the lower.
__device__ float warp_sum(float sum)
{
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    return sum;
}

extern "C" __global__ void reduce(const float *__restrict__ x, float *__restrict__ total,
                                  long long n)
{
    const long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long stride = (long long)gridDim.x * blockDim.x;

    // A float4 starts on a multiple of 16 bytes: up to 3 elements stand before the first.
    const long long head = min(n, (long long)((0 - (size_t)x) / sizeof(float) % 4));
    const long long quads = (n - head) / 4, tail = head + 4 * quads;
    const float4 *const x4 = (const float4 *)(x + head);

    float sum = 0;
    for (long long i = first; i < quads; i += stride) {
        const float4 v = x4[i];
        sum += (TERM(v.x) + TERM(v.y)) + (TERM(v.z) + TERM(v.w));
    }
    if (first < head)
        sum += TERM(x[first]);
    if (first < n - tail)
        sum += TERM(x[tail + first]);

    __shared__ float warps[32]; // the sum of each warp
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = warp_sum(threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0);
        if (threadIdx.x == 0)
            atomicAdd(total, sum);
    }
}
