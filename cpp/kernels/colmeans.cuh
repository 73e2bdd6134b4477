// colmeans: means[b][c] = the mean of column c of matrix b, x[b][0][c], x[b][1][c], ...
//
// Compiled unchanged by NVRTC, NVCC and a C++ compiler with cpp/host/cuda_on_host.hpp.
// Launch it with blocks of THREADS threads, on any grid; batch * ceil(columns / COLUMNS)
// blocks are enough. Adds in float32.
// Macros: THREADS (default 128); COLUMNS, neighbouring columns that a block sums at once,
// both powers of two (32); AHEAD, numbers that a thread asks for before it adds them (4);
// ROOM, floats of shared memory a block, at least THREADS (THREADS).

#ifndef THREADS
#define THREADS 128
#endif
#ifndef COLUMNS
#define COLUMNS 32
#endif
#ifndef AHEAD
#define AHEAD 4
#endif
#ifndef ROOM
#define ROOM THREADS
#endif

extern "C" __global__ void colmeans(const float *__restrict__ x, float *__restrict__ means,
                                    long long batch, long long rows, long long columns)
{
    __shared__ float partial[ROOM];
    const int column = threadIdx.x % COLUMNS, line = threadIdx.x / COLUMNS;
    const int lines = THREADS / COLUMNS; // threads that share a column
    constexpr int ahead = AHEAD; // nvcc expands no macro in a #pragma
    const long long groups = (columns + COLUMNS - 1) / COLUMNS; // of columns in a matrix
    for (long long group = blockIdx.x; group < batch * groups; group += gridDim.x) {
        const long long matrix = group / groups, c = group % groups * COLUMNS + column;
        const float *from = x + matrix * rows * columns + c;
        float sum = 0;
        if (c < columns)
#pragma unroll(ahead)
            for (long long row = line; row < rows; row += lines)
                sum += from[row * columns];
        partial[threadIdx.x] = sum;
        for (int half = lines / 2; half > 0; half /= 2) {
            __syncthreads(); // the sums to add are there
            if (line < half)
                partial[threadIdx.x] += partial[threadIdx.x + half * COLUMNS];
        }
        if (line == 0 && c < columns)
            means[matrix * columns + c] = partial[threadIdx.x] / rows;
        __syncthreads(); // partial may be overwritten
    }
}
