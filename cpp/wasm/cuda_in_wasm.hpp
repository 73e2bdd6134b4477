// Just enough CUDA for clang to compile a kernel to WebAssembly, without any library.
//
// clang instruments the kernel as for ThreadSanitizer: before each access to memory it calls a function __tsan_….
// Those functions stand here, in the place of ThreadSanitizer's, as in cpp/host/between_blocks.hpp. They record the
// addresses that the first warp of a launch accesses.
// No name here is of capital letters alone: `-DN=8` belongs to the kernels.
#pragma once

struct dim3 {
    unsigned x = 1, y = 1, z = 1;
};
dim3 registers[4]; // so called because on a GPU they are not in memory
static dim3 &gridDim = registers[0], &blockDim = registers[1], &blockIdx = registers[2], &threadIdx = registers[3];

#define __global__
#define __shared__ alignas(128) static // blocks run one after another; the first float lies in bank 0

// A thread does not wait here, but the compiler moves no access across.
inline void __syncthreads() { asm volatile("" ::: "memory"); }

constexpr unsigned warp_size = 32, most_accesses = 512; // of a lane

extern "C" {
unsigned accesses[warp_size][most_accesses]; // by lane: the address, and 1 in its lowest bit for a write
unsigned access_count[warp_size];

[[clang::no_sanitize("thread")]] inline void record(const void *place, unsigned writes)
{
    const unsigned lane = threadIdx.x + blockDim.x * threadIdx.y;
    const bool recorded = blockIdx.x + blockIdx.y == 0 && lane < warp_size && access_count[lane] < most_accesses;
    if (recorded && (place < registers || place >= registers + 4))
        accesses[lane][access_count[lane]++] = reinterpret_cast<unsigned>(place) | writes;
}
void __tsan_init() {}
void __tsan_read4(void *place) { record(place, 0); }
void __tsan_write4(void *place) { record(place, 1); }
}

// Runs a kernel on a grid and blocks of up to two dimensions. Threads do not wait at barriers. Instead all threads of a
// block run twice, one after another: the second time, they find in shared memory what all have written there. This is
// right for a kernel whose blocks fill the shared memory once.
template <class Kernel, class... Arguments>
[[clang::no_sanitize("thread")]] void launch(dim3 grid, dim3 block, Kernel *kernel, Arguments... arguments)
{
    gridDim = grid, blockDim = block;
    for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y)
        for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x)
            for (int time = 0; time < 2; ++time) {
                if (blockIdx.x + blockIdx.y == 0)
                    for (unsigned &count : access_count)
                        count = 0;
                for (threadIdx.y = 0; threadIdx.y < block.y; ++threadIdx.y)
                    for (threadIdx.x = 0; threadIdx.x < block.x; ++threadIdx.x)
                        kernel(arguments...);
            }
}
