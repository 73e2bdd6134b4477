// normalise: y[r] = x[r] / |x[r]| for every row r of a matrix of rows x columns; |.| is the length of a row as a vector
//
// Compiled unchanged by NVRTC and NVCC; CUB's algorithms need a GPU, so there is no host way.
// For any grid, and blocks of THREADS. A row of zeros becomes NaN, as 0 / 0 does.
// Macros: THREADS a block, ITEMS a thread, LOAD and STORE (how CUB moves a tile of THREADS x ITEMS elements).

#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_store.cuh>

#ifndef THREADS
#define THREADS 128
#endif
#ifndef ITEMS
#define ITEMS 16
#endif
#ifndef LOAD
#define LOAD cub::BLOCK_LOAD_STRIPED
#endif
#ifndef STORE
#define STORE cub::BLOCK_STORE_STRIPED
#endif

extern "C" __global__ void __launch_bounds__(THREADS)
    normalise(const float *__restrict__ x, float *__restrict__ y, long long rows, long long columns)
{
    using Load = cub::BlockLoad<float, THREADS, ITEMS, LOAD>;
    using Reduce = cub::BlockReduce<float, THREADS>;
    using Store = cub::BlockStore<float, THREADS, ITEMS, STORE>;
    constexpr long long tile = THREADS * ITEMS;
    __shared__ union {
        typename Load::TempStorage load;
        typename Reduce::TempStorage reduce;
        typename Store::TempStorage store;
    } storage; // never two at a time, and a barrier between them
    __shared__ float length;
    float items[ITEMS];

    for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
        const float *const from = x + row * columns;
        float *const to = y + row * columns;

        float squares = 0;
        for (long long i = 0; i < columns; i += tile) {
            Load(storage.load).Load(from + i, items, (int)min(tile, columns - i), 0.0f);
            for (float item : items)
                squares += item * item;
            __syncthreads();
        }
        squares = Reduce(storage.reduce).Sum(squares); // of use in thread 0 alone
        if (threadIdx.x == 0)
            length = sqrtf(squares);
        __syncthreads();

        for (long long i = 0; i < columns; i += tile) {
            const int count = (int)min(tile, columns - i);
            if (columns > tile) // else the one tile is still in the registers
                Load(storage.load).Load(from + i, items, count, 0.0f);
            for (float &item : items)
                item /= length;
            __syncthreads();
            Store(storage.store).Store(to + i, items, count);
            __syncthreads();
        }
    }
}
