// stencil: a Jacobi step of the heat equation from u to v, h rows of w cells: every cell
// becomes the mean of its four neighbours; the cells of the border keep their temperature.
//
// Compiled unchanged by NVRTC, NVCC and a C++ compiler with cpp/host/cuda_on_host.hpp.
// Macros: ROWS and COLUMNS, the cells that a thread computes at a time (default 4 by 4).

#ifndef ROWS
#define ROWS 4
#endif
#ifndef COLUMNS
#define COLUMNS 4
#endif

template <int columns>
__device__ void step(const float *__restrict__ u, float *__restrict__ v, long long h,
                     long long w)
{
    struct alignas(4 * columns) Piece { float cell[columns]; }; // one load or one store
    const long long x_stride = (long long)gridDim.x * blockDim.x * columns;
    const long long y_stride = (long long)gridDim.y * blockDim.y * ROWS;
    const long long left = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * columns;
    const long long top = ((long long)blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
    for (long long y = top; y < h; y += y_stride)
        for (long long x = left; x < w; x += x_stride) {
            float cell[ROWS + 2][columns + 2]; // in registers: the thread's cells and a rim
            const float *from = u + (y > 0 ? y - 1 : 0) * w + x;
            for (int r = 0; r < ROWS + 2; ++r) {
                const Piece piece = *(const Piece *)from;
                for (int c = 0; c < columns; ++c)
                    cell[r][c + 1] = piece.cell[c];
                cell[r][0] = x > 0 ? from[-1] : 0;
                cell[r][columns + 1] = x + columns < w ? from[columns] : 0;
                from += y + r > 0 && y + r < h ? w : 0; // never beyond the last row
            }
            for (int r = 1; r <= ROWS; ++r) {
                const long long i = y + r - 1;
                Piece next;
                for (int c = 1; c <= columns; ++c) {
                    const long long j = x + c - 1;
                    const bool inside = i > 0 && i < h - 1 && j > 0 && j < w - 1;
                    const float up_down = cell[r - 1][c] + cell[r + 1][c];
                    const float left_right = cell[r][c - 1] + cell[r][c + 1];
                    next.cell[c - 1] = inside ? 0.25f * (up_down + left_right) : cell[r][c];
                }
                if (i < h)
                    *(Piece *)(v + i * w + x) = next;
            }
        }
}

extern "C" __global__ void stencil(const float *__restrict__ u, float *__restrict__ v,
                                   long long h, long long w)
{
    const size_t size = 4 * COLUMNS; // of a piece in bytes; its address must be a multiple
    if (w % COLUMNS == 0 && (size_t)u % size == 0 && (size_t)v % size == 0)
        step<COLUMNS>(u, v, h, w);
    else
        step<1>(u, v, h, w);
}
