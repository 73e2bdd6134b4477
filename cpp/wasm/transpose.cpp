// Lesson 04's kernel for the lesson's page. `make wasm` compiles this for each tile and padding.
#include "cuda_in_wasm.hpp"

#define COLS int(blockDim.x) // the page chooses the block when the module runs
#define ROWS int(blockDim.y)
#include "../kernels/transpose.cuh"

extern "C" {
alignas(128) float a[64 * 64], b[64 * 64]; // the page writes one and reads the other

[[clang::no_sanitize("thread")]] void run(int h, int w, unsigned cols, unsigned rows)
{
    const dim3 grid{(w + TILE - 1u) / TILE, (h + TILE - 1u) / TILE}; // a tile for each block
    launch(grid, {cols, rows}, transpose, a, b, h, w);
}
}
