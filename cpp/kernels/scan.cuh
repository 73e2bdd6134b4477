// scan: the prefix sums of every row of a matrix of rows x columns: y[r][c] = x[r][0] + ... + x[r][c]
//
// Compiled unchanged by NVRTC and NVCC; CUB's algorithms need a GPU, so there is no host way.
// For any grid, and blocks of THREADS: one block at a time works on a row, tile by tile.
// Macros: THREADS a block, ITEMS a thread, LOAD and STORE (how CUB moves a tile of THREADS x ITEMS elements).

#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

#ifndef THREADS
#define THREADS 128
#endif
#ifndef ITEMS
#define ITEMS 16
#endif
#ifndef LOAD
#define LOAD cub::BLOCK_LOAD_WARP_TRANSPOSE
#endif
#ifndef STORE
#define STORE cub::BLOCK_STORE_WARP_TRANSPOSE
#endif

extern "C" __global__ void __launch_bounds__(THREADS)
    scan(const float *__restrict__ x, float *__restrict__ y, long long rows, long long columns)
{
    using Load = cub::BlockLoad<float, THREADS, ITEMS, LOAD>;
    using Scan = cub::BlockScan<float, THREADS>;
    using Store = cub::BlockStore<float, THREADS, ITEMS, STORE>;
    constexpr long long tile = THREADS * ITEMS;
    __shared__ union {
        typename Load::TempStorage load;
        typename Scan::TempStorage scan;
        typename Store::TempStorage store;
    } storage; // never two at a time, and a barrier between them
    float items[ITEMS];

    for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
        const float *const from = x + row * columns;
        float *const to = y + row * columns;
        float before = 0; // the sum of the row's tiles so far
        for (long long i = 0; i < columns; i += tile) {
            const int count = (int)min(tile, columns - i);
            Load(storage.load).Load(from + i, items, count, 0.0f);
            __syncthreads();
            float sum;
            Scan(storage.scan).InclusiveSum(items, items, sum);
            for (float &item : items)
                item += before;
            before += sum;
            __syncthreads();
            Store(storage.store).Store(to + i, items, count);
            __syncthreads();
        }
    }
}
