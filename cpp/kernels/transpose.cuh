// transpose: b[x][y] = a[y][x]; a has h rows and w columns, b has w rows and h columns
//
// Compiled unchanged by NVRTC, NVCC and a C++ compiler with cpp/host/cuda_on_host.hpp.
// Launch it with blocks of COLS x ROWS threads, on any grid.
// Macros: TILE, the edge of the square that a block moves at a time, a multiple of COLS and
// of ROWS (default 64); COLS, ROWS (32, 8); TILED, 0 for no tile at all (1); PAD, unused
// floats at the end of each row of the tile (1).

#ifndef TILE
#define TILE 64
#endif
#ifndef COLS
#define COLS 32
#endif
#ifndef ROWS
#define ROWS 8
#endif
#ifndef TILED
#define TILED 1
#endif
#ifndef PAD
#define PAD 1
#endif

extern "C" __global__ void transpose(const float *__restrict__ a, float *__restrict__ b,
                                     long long h, long long w)
{
    __shared__ float tile[TILE][TILE + PAD];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const long long down = (long long)gridDim.y * TILE, right = (long long)gridDim.x * TILE;
    for (long long y = (long long)blockIdx.y * TILE; y < h; y += down)
        for (long long x = (long long)blockIdx.x * TILE; x < w; x += right) {
            const float *from = a + y * w + x; // a square of a
            float *to = b + x * h + y;         // and its place in b
            const int height = h - y < TILE ? h - y : TILE; // less at the lower edge of a
            const int width = w - x < TILE ? w - x : TILE;  // and at its right edge
#pragma unroll
            for (int i = ty; i < TILE + ty; i += ROWS)
#pragma unroll
                for (int j = tx; j < TILE + tx; j += COLS)
                    if (i < height && j < width) {
                        if (TILED)
                            tile[i][j] = from[i * w + j];
                        else
                            to[j * h + i] = from[i * w + j];
                    }
            if (!TILED)
                continue;
            __syncthreads(); // the tile is complete
#pragma unroll
            for (int i = ty; i < TILE + ty; i += ROWS)
#pragma unroll
                for (int j = tx; j < TILE + tx; j += COLS)
                    if (i < width && j < height)
                        to[i * h + j] = tile[j][i];
            __syncthreads(); // the tile may be overwritten
        }
}
