// One row of y a function of the warp, one column a thread.

extern "C" __global__ void warp_functions(int *y, int width)
{
    const int lane = threadIdx.x, n = blockDim.x;
    const unsigned all = 0xffffffff;
    y[lane] = __shfl_sync(all, 100 + lane, 3, width);
    y[n + lane] = __shfl_up_sync(all, 100 + lane, 3, width);
    y[2 * n + lane] = __shfl_down_sync(all, 100 + lane, 3, width);
    y[3 * n + lane] = __shfl_xor_sync(all, 100 + lane, 5, width);
    y[4 * n + lane] = __popc(__ballot_sync(all, lane % 3 == 0));
    y[5 * n + lane] = __any_sync(all, lane % 32 == 5) + 2 * __any_sync(all, lane < 0);
    y[6 * n + lane] = __all_sync(all, lane % 32 != 5) + 2 * __all_sync(all, lane >= 0);
    y[7 * n + lane] = (int)__shfl_sync(all, 0.5 + lane, 2); // 8 bytes
}

// The halves of a warp shuffle apart from each other, and not equally often.
extern "C" __global__ void half_warps(int *y)
{
    int value = threadIdx.x;
    if (threadIdx.x % 32 < 16)
        for (int i = 0; i < 3; ++i)
            value = __shfl_xor_sync(0x0000ffff, value, 1 << i);
    else
        value = __shfl_xor_sync(0xffff0000, value, 8);
    y[threadIdx.x] = value;
}

// Never right: the second half waits for lanes that wait elsewhere.
extern "C" __global__ void never_meet(int *y)
{
    if (threadIdx.x < 16)
        __syncthreads();
    else
        y[threadIdx.x] = __shfl_sync(0xffffffff, 1, 0);
    __syncthreads();
}
