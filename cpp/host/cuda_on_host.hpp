// Just enough CUDA for a C++20 compiler to run a kernel on the CPU. fourways.host puts it before the kernel's text.
//
// Blocks run one after another. A block runs as plain loops over its threads until one of them meets a barrier or a
// shuffle; from there on every CUDA thread is an OS thread, so that sanitizers see real races. They cannot see a race
// between two blocks: between_blocks.hpp finds those. Vector types, dim3 and words like __global__ come from CUDA's own
// headers. What a kernel includes from include/ stands before CUDA's header of that name.
//
// Macros: FOURWAYS_THREADS, OS threads from the start (for ThreadSanitizer); FOURWAYS_PATIENCE, the seconds that a lane
// waits for the other lanes of its warp (default 30).
// No name here is of capital letters alone: `-DT=float` and `-DN=8` belong to the kernels.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <vector_functions.h>

#include "atomics.hpp"
#include "entry.hpp"
#include "intrinsics.hpp"
#include "math.hpp"
#include "no_host_way.hpp"

#ifndef FOURWAYS_PATIENCE
#define FOURWAYS_PATIENCE 30
#endif
#ifdef FOURWAYS_THREADS
const bool fourways::threads_first = true;
#else
const bool fourways::threads_first = false;
#endif
const unsigned fourways::lane_patience = FOURWAYS_PATIENCE;

#undef __shared__
#define __shared__ static // blocks run one after another: one copy serves them all
#undef __cluster_dims__
#undef __block_size__
#undef __maxnreg__
#define __launch_bounds__(...) // Python reads the first two, see fourways::limited, and checks each launch
#define __cluster_dims__(...)
#define __block_size__(...)
#define __maxnreg__(...)

inline void __syncthreads(int line = __builtin_LINE()) { fourways::sync_block(line); }
inline int __syncthreads_count(int vote, int line = __builtin_LINE()) { return fourways::sync_block(line, vote != 0); }
inline int __syncthreads_or(int vote, int line = __builtin_LINE()) { return fourways::sync_block(line, vote != 0) != 0; }
inline int __syncthreads_and(int vote, int line = __builtin_LINE()) { return fourways::sync_block(line, !vote) == 0; }
inline void __syncwarp(unsigned mask = ~0u)
{
    fourways::Visit visit{mask, fourways::lane()};
    visit.orders = true;
    fourways::meet(visit);
}
inline unsigned __ballot_sync(unsigned mask, int vote)
{
    return fourways::meet({mask, fourways::lane(), vote != 0}).votes;
}
inline int __any_sync(unsigned mask, int vote) { return __ballot_sync(mask, vote) != 0; }
inline int __all_sync(unsigned mask, int vote) { return __ballot_sync(mask, !vote) == 0; }

namespace fourways {

inline unsigned first_lane(int width) { return lane() & ~unsigned(width - 1); }

template <class Value> Value shuffle(unsigned mask, Value value, unsigned source)
{
    static_assert(sizeof(Value) <= 8 && std::is_trivially_copyable_v<Value>, "a shuffle moves at most 8 bytes");
    Visit visit{mask, source};
    std::memcpy(&visit.value, &value, sizeof(Value));
    visit = meet(visit);
    std::memcpy(&value, &visit.value, sizeof(Value));
    return value;
}

// Brings all values of the lanes that meet, as bits, and their mask.
template <class Value> Visit gather(unsigned mask, Value value, unsigned long long (&all)[warpSize])
{
    static_assert(sizeof(Value) <= 8, "a lane brings at most 8 bytes");
    Visit visit{mask, lane()};
    std::memcpy(&visit.value, &value, sizeof(Value));
    visit.all = all;
    return meet(visit);
}

template <class Value> unsigned lanes_with(unsigned mask, Value value, unsigned &met)
{
    unsigned long long all[warpSize];
    const Visit visit = gather(mask, value, all);
    unsigned same = 0;
    for (unsigned i = 0; i < warpSize; ++i)
        same |= unsigned(all[i] == visit.value) << i;
    met = visit.mask;
    return same & met;
}

template <class Value, class Change> Value reduced(unsigned mask, Value value, Change change)
{
    unsigned long long all[warpSize];
    unsigned others = gather(mask, value, all).mask & ~(1u << lane());
    for (; others; others &= others - 1)
        value = change(value, Value(all[__builtin_ctz(others)]));
    return value;
}

} // namespace fourways

template <class Value> Value __shfl_sync(unsigned mask, Value value, int source, int width = warpSize)
{
    return fourways::shuffle(mask, value, fourways::first_lane(width) + (source & (width - 1)));
}
template <class Value> Value __shfl_up_sync(unsigned mask, Value value, unsigned distance, int width = warpSize)
{
    const unsigned lane = fourways::lane(), place = lane - fourways::first_lane(width);
    return fourways::shuffle(mask, value, distance <= place ? lane - distance : lane);
}
template <class Value> Value __shfl_down_sync(unsigned mask, Value value, unsigned distance, int width = warpSize)
{
    const unsigned lane = fourways::lane(), place = lane - fourways::first_lane(width);
    return fourways::shuffle(mask, value, distance < width - place ? lane + distance : lane);
}
template <class Value> Value __shfl_xor_sync(unsigned mask, Value value, int bits, int width = warpSize)
{
    const unsigned lane = fourways::lane(), source = lane ^ bits;
    return fourways::shuffle(mask, value, source < fourways::first_lane(width) + width ? source : lane);
}

template <class Value> unsigned __match_any_sync(unsigned mask, Value value)
{
    unsigned met;
    return fourways::lanes_with(mask, value, met);
}
template <class Value> unsigned __match_all_sync(unsigned mask, Value value, int *all)
{
    unsigned met;
    *all = fourways::lanes_with(mask, value, met) == met;
    return *all ? met : 0;
}

#define FOURWAYS_REDUCE(name, Value, change)                                                                           \
    inline Value name(unsigned mask, Value value)                                                                      \
    {                                                                                                                  \
        return fourways::reduced(mask, value, [](Value a, Value b) { return change; });                                \
    }
FOURWAYS_REDUCE(__reduce_add_sync, int, int(unsigned(a) + unsigned(b)))
FOURWAYS_REDUCE(__reduce_add_sync, unsigned, a + b)
FOURWAYS_REDUCE(__reduce_max_sync, int, max(a, b))
FOURWAYS_REDUCE(__reduce_max_sync, unsigned, max(a, b))
FOURWAYS_REDUCE(__reduce_min_sync, int, min(a, b))
FOURWAYS_REDUCE(__reduce_min_sync, unsigned, min(a, b))
FOURWAYS_REDUCE(__reduce_and_sync, unsigned, a & b)
FOURWAYS_REDUCE(__reduce_or_sync, unsigned, a | b)
FOURWAYS_REDUCE(__reduce_xor_sync, unsigned, a ^ b)

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __threadfence(); }
inline void __threadfence_system() { __threadfence(); }
