// Just enough CUDA for a C++20 compiler to run a kernel on the CPU. fourways.host puts it before the kernel's text.
//
// Blocks run one after another. A block runs as plain loops over its threads until one of them meets a barrier or a
// shuffle; from there on every CUDA thread is an OS thread, so that sanitizers see real races. They cannot see a race
// between two blocks: between_blocks.hpp finds those. Vector types, dim3 and words like __global__ come from CUDA's own
// headers.
//
// Macros: FOURWAYS_THREADS, OS threads from the start (for ThreadSanitizer); FOURWAYS_PATIENCE, the seconds that a lane
// waits for the other lanes of its warp (default 30).
// No name here is of capital letters alone: `-DT=float` and `-DN=8` belong to the kernels.
#pragma once

#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <vector_functions.h>

#include "entry.hpp"

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
#define __launch_bounds__(...)

inline void __syncthreads(int line = __builtin_LINE()) { fourways::sync_block(line); }
inline void __syncwarp(unsigned mask = ~0u) { fourways::meet({mask, fourways::lane()}); }
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

// Relaxed, as on the GPU: an atomic orders nothing but itself.
template <class Value, class Change> [[gnu::always_inline]] inline Value update(Value *place, Change change)
{
    Value old, changed;
    __atomic_load(place, &old, __ATOMIC_RELAXED);
    do
        changed = change(old);
    while (!__atomic_compare_exchange(place, &old, &changed, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}

template <class Value> using Same = std::type_identity_t<Value>; // converts, so that atomicAdd(&count, 1) compiles

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

template <class Value> Value atomicAdd(Value *place, fourways::Same<Value> value)
{
    return fourways::update(place, [=](Value old) { return Value(old + value); });
}
template <class Value> Value atomicSub(Value *place, fourways::Same<Value> value)
{
    return fourways::update(place, [=](Value old) { return Value(old - value); });
}
template <class Value> Value atomicMax(Value *place, fourways::Same<Value> value)
{
    return fourways::update(place, [=](Value old) { return old < value ? value : old; });
}
template <class Value> Value atomicMin(Value *place, fourways::Same<Value> value)
{
    return fourways::update(place, [=](Value old) { return value < old ? value : old; });
}
template <class Value> Value atomicExch(Value *place, fourways::Same<Value> value)
{
    return fourways::update(place, [=](Value) { return value; });
}
template <class Value> Value atomicCAS(Value *place, fourways::Same<Value> expected, fourways::Same<Value> value)
{
    return fourways::update(place, [=](Value old) { return old == expected ? value : old; });
}

inline void __trap() { std::abort(); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __threadfence(); }
template <class Value> Value __ldg(const Value *place) { return *place; }
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
template <class One, class Two> constexpr auto max(One a, Two b) { return std::common_type_t<One, Two>(a < b ? b : a); }
template <class One, class Two> constexpr auto min(One a, Two b) { return std::common_type_t<One, Two>(b < a ? b : a); }
