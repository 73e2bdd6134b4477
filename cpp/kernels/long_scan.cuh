// long_scan: y[i] = x[0] + ... + x[i] for i in [0, n), by all blocks together, in one pass over memory
//
// Compiled unchanged by NVRTC and NVCC; CUB's algorithms need a GPU, so there is no host way.
// Blocks of THREADS that wait for each other: no more than run at once, as a cooperative launch makes sure.
// sums: a word for each tile of 4 x QUADS x THREADS elements, all 0 before the launch.
// Macros: THREADS a block; QUADS, of 4 elements each, a thread; BLOCKS that a multiprocessor should hold.

#include <cub/block/block_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

#ifndef THREADS
#define THREADS 256
#endif
#ifndef QUADS
#define QUADS 6
#endif
#ifndef BLOCKS
#define BLOCKS 3
#endif

constexpr long long tile_size = 4LL * QUADS * THREADS;

// Which quad of the array is a thread's quad k of a tile. A warp has 32 x QUADS in a row; its lanes take 32 at a time.
__device__ inline long long place(long long tile, int k)
{
    return tile * (tile_size / 4) + 32 * (QUADS * (threadIdx.x / 32) + k) + threadIdx.x % 32;
}

// May tile be moved in quads? It must lie in the array as a whole, and the array start on a multiple of 16 bytes.
__device__ inline bool in_quads(const float *array, long long tile, long long n)
{
    return (size_t)array % sizeof(float4) == 0 && (tile + 1) * tile_size <= n;
}

__device__ inline void load_tile(float4 (&quads)[QUADS], const float *x, long long tile, long long n)
{
    const bool whole = in_quads(x, tile, n);
    for (int k = 0; k < QUADS; ++k) {
        const long long i = 4 * place(tile, k);
        if (whole)
            quads[k] = ((const float4 *)x)[place(tile, k)];
        else
            quads[k] = make_float4(i < n ? x[i] : 0, i + 1 < n ? x[i + 1] : 0, i + 2 < n ? x[i + 2] : 0,
                                   i + 3 < n ? x[i + 3] : 0);
    }
}

__device__ inline void store_tile(const float4 (&quads)[QUADS], float *y, long long tile, long long n)
{
    const bool whole = in_quads(y, tile, n);
    for (int k = 0; k < QUADS; ++k) {
        const float values[] = {quads[k].x, quads[k].y, quads[k].z, quads[k].w};
        if (whole)
            ((float4 *)y)[place(tile, k)] = quads[k];
        else
            for (int j = 0; j < 4; ++j)
                if (4 * place(tile, k) + j < n)
                    y[4 * place(tile, k) + j] = values[j];
    }
}

__device__ inline float4 operator+(float4 quad, float value)
{
    return make_float4(quad.x + value, quad.y + value, quad.z + value, quad.w + value);
}

// A tile's sum and the mark that it is there, in one store of 8 bytes: nobody sees the one without the other.
__device__ inline void publish(unsigned long long *word, float sum)
{
    *(volatile unsigned long long *)word = 1ULL << 32 | __float_as_uint(sum);
}

__device__ inline float published(const unsigned long long *word)
{
    unsigned long long seen;
    while ((seen = *(const volatile unsigned long long *)word) == 0)
        ;
    return __uint_as_float((unsigned)seen);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    long_scan(const float *__restrict__ x, float *__restrict__ y, unsigned long long *sums, long long n)
{
    using WarpScan = cub::WarpScan<float>;
    using Reduce = cub::BlockReduce<float, THREADS>;
    __shared__ typename WarpScan::TempStorage scan[THREADS / 32];
    __shared__ typename Reduce::TempStorage reduce;
    __shared__ float4 parked[QUADS][THREADS]; // a tile, scanned, until the sum of all before it is known
    __shared__ float warp_sums[THREADS / 32], start;
    const int warp = threadIdx.x / 32;
    float4 next[QUADS], quads[QUADS];
    float before = 0, parked_sum = 0; // of all up to this block's last finished tile; of the parked tile

    load_tile(next, x, blockIdx.x, n);
    for (long long tile = blockIdx.x; (tile - gridDim.x) * tile_size < n; tile += gridDim.x) { // one to finish the last
        for (int k = 0; k < QUADS; ++k)
            quads[k] = next[k];
        load_tile(next, x, tile + gridDim.x, n); // on its way during all that follows

        float warp_sum = 0;
        for (int k = 0; k < QUADS; ++k) {
            quads[k].y += quads[k].x;
            quads[k].z += quads[k].y;
            quads[k].w += quads[k].z;
            float lower, all; // lanes
            WarpScan(scan[warp]).ExclusiveSum(quads[k].w, lower, all);
            quads[k] = quads[k] + (warp_sum + lower);
            warp_sum += all;
        }
        warp_sums[warp] = warp_sum;
        __syncthreads();
        float lower = 0, sum = 0; // of the warps below, of all
        for (int w = 0; w < THREADS / 32; ++w) {
            lower += w < warp ? warp_sums[w] : 0;
            sum += warp_sums[w];
        }
        if (threadIdx.x == 0 && tile * tile_size < n)
            publish(sums + tile, sum);

        for (int k = 0; k < QUADS; ++k) { // this tile is parked, the one before comes back
            const float4 scanned = quads[k] + lower;
            quads[k] = parked[k][threadIdx.x];
            parked[k][threadIdx.x] = scanned;
        }
        const long long last = tile - gridDim.x;
        float between = 0; // the tiles since the one that this block finished: one of each other block
        for (long long other = last - 1 - threadIdx.x; other >= 0 && other > last - gridDim.x; other -= THREADS)
            between += published(sums + other);
        between = Reduce(reduce).Sum(between);
        if (threadIdx.x == 0)
            start = before + between;
        __syncthreads();
        if (last >= 0) {
            for (int k = 0; k < QUADS; ++k)
                quads[k] = quads[k] + start;
            store_tile(quads, y, last, n);
            before = start + parked_sum;
        }
        parked_sum = sum;
    }
}
