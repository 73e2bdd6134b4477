// Cooperative groups: a block and its tiles.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

// y = the mean of each element of x and its four neighbours, zero beyond the edge; x is height by width. As in ssim.
extern "C" __global__ void smooth(const float *x, float *y, int height, int width)
{
    const auto block = cg::this_thread_block();
    __shared__ float tile[10][10];
    const int row0 = block.group_index().y * 8, column0 = block.group_index().x * 8;
    for (int k = block.thread_rank(); k < 100; k += block.size()) {
        const int row = row0 + k / 10 - 1, column = column0 + k % 10 - 1;
        const bool inside = row >= 0 && row < height && column >= 0 && column < width;
        tile[k / 10][k % 10] = inside ? x[row * width + column] : 0;
    }
#ifndef WITHOUT_SYNC
    block.sync();
#endif
    const int r = block.thread_index().y, c = block.thread_index().x;
    if (row0 + r < height && column0 + c < width)
        y[(row0 + r) * width + column0 + c] =
            (tile[r][c + 1] + tile[r + 2][c + 1] + tile[r + 1][c] + tile[r + 1][c + 2] + tile[r + 1][c + 1]) / 5;
}

// What each thread of a block knows of its tile of 8: 9 rows.
extern "C" __global__ void tiles(int *y)
{
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    const auto tile = cg::tiled_partition<8>(warp);
    const int i = block.thread_rank(), n = block.num_threads();
    y[i] = tile.thread_rank() + 100 * tile.meta_group_rank() + 10000 * tile.size() + 1000000 * tile.meta_group_size();
    y[n + i] = tile.shfl(i, 3);
    y[2 * n + i] = tile.shfl_down(i, 2) - tile.shfl_up(i, 1);
    y[3 * n + i] = tile.shfl_xor(i, 1);
    y[4 * n + i] = tile.ballot(i % 3 == 0);
    y[5 * n + i] = tile.any(i == 9) + 2 * tile.all(i < 16);
    y[6 * n + i] = tile.match_any(i % 2);
    y[7 * n + i] = cg::reduce(tile, i, cg::plus<int>()) - cg::reduce(warp, i, cg::greater<int>());
    tile.sync();
    y[8 * n + i] = cg::reduce(tile, i, [](int a, int b) { return min(a, b); });
}

// The sum of a group of any size, as in NVIDIA's guide.
__device__ int sum(cg::thread_group group, int *place, int value)
{
    const int lane = group.thread_rank();
    for (int half = group.size() / 2; half > 0; half /= 2) {
        place[lane] = value;
        group.sync();
        if (lane < half)
            value += place[lane + half];
        group.sync();
    }
    return value; // thread 0's is the sum
}

extern "C" __global__ void sums(const int *x, int *of_block, int *of_tiles)
{
    __shared__ int place[64];
    const cg::thread_block block = cg::this_thread_block();
    const int value = x[block.thread_rank()], total = sum(block, place, value);
    if (block.thread_rank() == 0)
        *of_block = total;
    cg::sync(block);
    const cg::thread_group tile = cg::tiled_partition(block, 16);
    const int first = cg::thread_rank(block) / 16 * 16, part = sum(tile, place + first, value);
    if (tile.thread_rank() == 0)
        of_tiles[first / 16] = part;
}
