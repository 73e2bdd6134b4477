// What a kernel's unit and the program around it (process.cpp, compiled once for all kernels) know of each other. A
// kernel's unit is compiled for every kernel: nothing here includes a header of C++'s library but a short one, most
// of which take longer to read than a kernel takes to compile.
#pragma once

#include <typeinfo>

#include <vector_types.h>

extern dim3 gridDim, blockDim;
extern uint3 blockIdx;
extern constinit thread_local uint3 threadIdx;
static constexpr int warpSize = 32;

namespace fourways {

using Arguments = void *const *; // as cuLaunchKernel takes them: a pointer to the value of each argument

struct Limits {
    long long threads = 0;  // of a block, at most, by __launch_bounds__; 0: it says none
    long long cluster[3]{}; // blocks, by __cluster_dims__
};

struct Kernel {
    const std::type_info *told;    // a type whose name tells the signature
    void (*run_thread)(Arguments); // for the present threadIdx
    void (*run_block)(Arguments);  // for one thread after another, until they have become OS threads
    Limits limits{};
};

// A variable of the module, which a launch brings from Python and takes back.
struct Variable {
    const char *name;
    void *place;
    unsigned long long size; // 0 of a constant
};

// Of the kernel's unit.
extern const Kernel kernels[];     // the last one is empty
extern const Variable variables[]; // as here
extern const bool threads_first;     // OS threads from the start
extern const unsigned lane_patience; // seconds

// Of the program.
extern char *dynamic_memory; // of the running launch
extern bool threaded;        // whether its CUDA threads are OS threads by now

// fourways.host writes `float (*const &tile) = fourways::dynamic;` for `extern __shared__ float tile[];`, in a function or
// in a file: wherever the memory of the present launch lies.
struct Dynamic {
    template <class Element> operator Element *const &() const
    {
        return reinterpret_cast<Element *const &>(dynamic_memory);
    }
};
inline constexpr Dynamic dynamic;

// What a lane brings to a meeting of its warp, and takes home: the mask of those that met, the value of lane `source`,
// who brought non-zero, and, where `all` is not null, everybody's values.
struct Visit {
    unsigned mask, source;
    unsigned long long value = 0;
    unsigned votes = 0;
    unsigned long long *all = nullptr;
    bool orders = false; // memory, as __syncwarp does; a shuffle or a vote does not
};
Visit meet(Visit visit);
unsigned sync_block(int line, bool vote = false); // line of the __syncthreads() in the kernel file; returns the votes
long long nanoseconds();                          // since some moment
void sleep(unsigned nanoseconds);

inline unsigned rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
inline unsigned lane() { return rank() % warpSize; }

} // namespace fourways
