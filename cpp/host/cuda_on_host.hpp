// Just enough CUDA for a C++20 compiler to run a kernel on the CPU. fourways.host puts it before the kernel's text.
//
// Blocks run one after another. A block runs as plain loops over its threads until one of them meets a barrier or a
// shuffle; from there on every CUDA thread is an OS thread, so that sanitizers see real races. (A race between two
// blocks they cannot see.) Vector types, dim3 and words like __global__ come from CUDA's own headers.
//
// Macros: FOURWAYS_THREADS, OS threads from the start (for ThreadSanitizer); FOURWAYS_SANITIZED, arrays on the heap;
// FOURWAYS_PATIENCE, the seconds that a lane waits for the other lanes of its warp (default 30).
// No name here is of capital letters alone: `-DT=float` and `-DN=8` belong to the kernels.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <type_traits>

#include <vector_functions.h>
#include <vector_types.h>

#include "launch.hpp"

#undef __shared__
#define __shared__ static // blocks run one after another: one copy serves them all
#define __launch_bounds__(...)

inline void __syncthreads() { fourways::launch->sync_block(); }
inline void __syncwarp(unsigned mask = ~0u) { fourways::launch->meet({mask}); }
inline unsigned __ballot_sync(unsigned mask, int vote)
{
    return fourways::launch->meet({mask, fourways::lane(), vote != 0}).votes;
}
inline int __any_sync(unsigned mask, int vote) { return __ballot_sync(mask, vote) != 0; }
inline int __all_sync(unsigned mask, int vote) { return __ballot_sync(mask, !vote) == 0; }

namespace fourways {
namespace {

char *dynamic_memory; // of the running launch

// fourways.host writes `auto *const tile = fourways::dynamic_shared<float>();` for `extern __shared__ float tile[];`.
template <class Value> Value *dynamic_shared() { return reinterpret_cast<Value *>(dynamic_memory); }

unsigned first_lane(int width) { return lane() & ~unsigned(width - 1); }

template <class Value> Value shuffle(unsigned mask, Value value, unsigned source)
{
    static_assert(sizeof(Value) <= 8 && std::is_trivially_copyable_v<Value>, "a shuffle moves at most 8 bytes");
    Visit visit{mask, source};
    std::memcpy(&visit.value, &value, sizeof(Value));
    visit = launch->meet(visit);
    std::memcpy(&value, &visit.value, sizeof(Value));
    return value;
}

// Relaxed, as on the GPU: an atomic orders nothing but itself.
template <class Value, class Change> Value update(Value *place, Change change)
{
    const std::atomic_ref<Value> cell(*place);
    Value old = cell.load(std::memory_order_relaxed);
    while (!cell.compare_exchange_weak(old, change(old), std::memory_order_relaxed)) {
    }
    return old;
}

template <class Value> using Same = std::type_identity_t<Value>; // converts, so that atomicAdd(&count, 1) compiles

} // namespace
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
inline void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void __threadfence_block() { __threadfence(); }
template <class Value> Value __ldg(const Value *place) { return *place; }
inline int __popc(unsigned bits) { return std::popcount(bits); }
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
using std::max;
using std::min;

#include "process.hpp"
