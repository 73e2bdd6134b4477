// Just enough CUDA for a C++20 compiler to run a kernel on the CPU. fourways.host compiles it in front of a kernel.
//
// Blocks run one after another. A block runs as plain loops over its threads until one of them meets a barrier or a
// shuffle; from there on every CUDA thread is an OS thread, so that sanitizers see real races. (A race between two
// blocks they cannot see.) Vector types, dim3 and words like __global__ come from CUDA's own headers.
//
// Macros: FOURWAYS_THREADS, OS threads from the start (for ThreadSanitizer); FOURWAYS_MAIN, a program, not a library;
// FOURWAYS_PATIENCE, the seconds that a lane waits for the other lanes of its warp (default 30).
#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <bit>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <vector_functions.h>
#include <vector_types.h>

#undef __shared__
#define __shared__ static // blocks run one after another: one copy serves them all
#define __launch_bounds__(...)

#ifdef FOURWAYS_THREADS
#undef FOURWAYS_THREADS
#define FOURWAYS_THREADS true
#else
#define FOURWAYS_THREADS false
#endif
#ifndef FOURWAYS_PATIENCE
#define FOURWAYS_PATIENCE 30
#endif

static dim3 gridDim, blockDim;
static uint3 blockIdx;
static thread_local uint3 threadIdx;
static constexpr int warpSize = 32;

namespace fourways {
namespace {

using Arguments = void *const *; // as cuLaunchKernel takes them: a pointer to the value of each argument

struct Kernel {
    const char *name;
    std::string signature;
    void (*run_thread)(Arguments); // for the present threadIdx
    void (*run_block)(Arguments);  // for every thread in turn, until they have become OS threads
};

unsigned rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
unsigned lane() { return rank() % warpSize; }

// What a lane brings to a meeting of its warp, and what it takes home: the value of `source`, and who brought non-zero.
struct Visit {
    unsigned mask, source = lane();
    unsigned long long value = 0;
    unsigned votes = 0;
};

class Warp {
    Visit visits[warpSize];
    unsigned here = 0; // lanes that wait
    unsigned gone;     // lanes that have returned, or never were
    std::mutex mutex;
    std::condition_variable released;

    void release_if_complete(unsigned mask)
    {
        if (mask & ~here & ~gone)
            return;
        Visit brought[warpSize];
        std::copy(visits, visits + warpSize, brought);
        const unsigned met = mask & here;
        unsigned votes = 0;
        for (int i = 0; i < warpSize; ++i)
            votes |= unsigned(met >> i & 1 && brought[i].value) << i;
        for (int i = 0; i < warpSize; ++i)
            if (met >> i & 1) {
                visits[i].votes = votes;
                if (met >> brought[i].source & 1)
                    visits[i].value = brought[brought[i].source].value;
            }
        here &= ~met;
        released.notify_all();
    }

public:
    explicit Warp(unsigned lanes) : gone(lanes < warpSize ? ~0u << lanes : 0) {}

    Visit meet(Visit visit)
    {
        const unsigned me = lane();
        visit.mask |= 1u << me;
        std::unique_lock lock(mutex);
        visits[me] = visit;
        here |= 1u << me;
        release_if_complete(visit.mask);
        if (!released.wait_for(lock, std::chrono::seconds(FOURWAYS_PATIENCE), [&] { return !(here >> me & 1); })) {
            here &= ~(1u << me);
            throw std::runtime_error("thread " + std::to_string(rank()) + " of its block waited " +
                                     std::to_string(FOURWAYS_PATIENCE) + " s in a shuffle, vote or __syncwarp for " +
                                     "lanes that its mask names and that never came");
        }
        return visits[me];
    }

    void leave(unsigned me)
    {
        std::lock_guard lock(mutex);
        gone |= 1u << me;
        for (int i = 0; i < warpSize; ++i)
            if (here >> i & 1 && visits[i].mask >> me & 1)
                release_if_complete(visits[i].mask);
    }
};

// One kernel on one grid. Threads, once made, serve all blocks: each is the same CUDA thread of block after block.
class Launch {
    struct NextBlock {
        Launch *launch;
        void operator()() noexcept { launch->next_block(); }
    };
    enum { waiting, started, given_up };

    const Kernel &kernel;
    const Arguments arguments;
    const unsigned size = blockDim.x * blockDim.y * blockDim.z;
    bool done = false;
    std::exception_ptr failure;
    std::mutex failure_mutex;
    std::deque<Warp> warps;
    std::optional<std::barrier<>> threads; // the threads of the block that have not returned
    std::barrier<NextBlock> block_end{size, {this}};
    std::atomic<int> start = waiting;
    std::vector<std::jthread> workers;

    void next_block()
    {
        if (++blockIdx.x == gridDim.x)
            blockIdx.x = 0, ++blockIdx.y;
        if (blockIdx.y == gridDim.y)
            blockIdx.y = 0, ++blockIdx.z;
        done = failure || blockIdx.z == gridDim.z;
        if (threaded())
            form_block(0);
    }

    void form_block(unsigned returned) // the first `returned` threads have returned already
    {
        threads.emplace(size - returned);
        warps.clear();
        for (unsigned first = 0; first < size; first += warpSize)
            warps.emplace_back(size - first);
        for (unsigned thread = 0; thread < returned; ++thread)
            warps[thread / warpSize].leave(thread % warpSize);
    }

    void keep(std::exception_ptr error)
    {
        std::lock_guard lock(failure_mutex);
        failure = failure ? failure : error;
    }

    void leave_block()
    {
        warps[rank() / warpSize].leave(lane());
        threads->arrive_and_drop();
    }

    void run_thread()
    {
        try {
            kernel.run_thread(arguments);
        } catch (...) {
            keep(std::current_exception());
        }
        leave_block();
    }

    void run_later_blocks()
    {
        while (block_end.arrive_and_wait(), !done)
            run_thread();
    }

    void work(unsigned thread, unsigned caller)
    {
        threadIdx = {thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / blockDim.x / blockDim.y};
        start.wait(waiting);
        if (start == given_up)
            return;
        if (thread > caller)
            run_thread();
        run_later_blocks();
    }

public:
    Launch(const Kernel &kernel, Arguments arguments) : kernel(kernel), arguments(arguments) {}

    bool threaded() const { return threads.has_value(); }

    // The caller becomes the OS thread of the CUDA thread that it is running; those before it have returned.
    void become_threads()
    {
        const unsigned caller = rank();
        try {
            for (unsigned thread = 0; thread < size; ++thread)
                if (thread != caller)
                    workers.emplace_back([=, this] { work(thread, caller); });
        } catch (const std::system_error &error) {
            start = given_up;
            start.notify_all();
            throw std::runtime_error("cannot start " + std::to_string(size) + " OS threads, one for each CUDA thread (" +
                                     error.what() + "): use a smaller block");
        }
        form_block(caller);
        start = started;
        start.notify_all();
    }

    void sync_block()
    {
        if (!threaded())
            become_threads();
        threads->arrive_and_wait();
    }

    Visit meet(Visit visit)
    {
        if (!threaded())
            become_threads();
        return warps[rank() / warpSize].meet(visit);
    }

    void run()
    {
        blockIdx = threadIdx = {};
        try {
            if (FOURWAYS_THREADS) {
                become_threads();
                kernel.run_thread(arguments);
            }
            while (!threaded() && !done) {
                kernel.run_block(arguments);
                if (!threaded())
                    next_block();
            }
        } catch (...) {
            keep(std::current_exception());
        }
        if (threaded()) {
            leave_block();
            run_later_blocks();
        }
        workers.clear(); // joins them
        if (failure)
            std::rethrow_exception(failure);
    }
};

Launch *launch;                        // the running one; there is one at a time
std::unique_ptr<std::byte[]> dynamic_memory; // what `extern __shared__` names

template <class T> T *dynamic_shared() { return reinterpret_cast<T *>(dynamic_memory.get()); }

template <class T> T shuffle(unsigned mask, T value, unsigned source)
{
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>, "a shuffle moves at most 8 bytes");
    Visit visit{mask, source};
    std::memcpy(&visit.value, &value, sizeof(T));
    visit = launch->meet(visit);
    std::memcpy(&value, &visit.value, sizeof(T));
    return value;
}

inline unsigned first_lane(int width) { return lane() & ~unsigned(width - 1); }

// "float32", "const int64*", "float32x4*" (float4), "bytes2" (any other type of two bytes): what host.py checks against.
template <class T> std::string type_name()
{
    if constexpr (std::is_pointer_v<T>) {
        using Element = std::remove_pointer_t<T>;
        return (std::is_const_v<Element> ? "const " : "") + type_name<std::remove_cv_t<Element>>() + "*";
    } else if constexpr (std::is_same_v<T, bool>)
        return "bool";
    else if constexpr (std::is_void_v<T>)
        return "bytes1";
    else if constexpr (std::is_arithmetic_v<T>)
        return (std::is_floating_point_v<T> ? "float" : std::is_signed_v<T> ? "int" : "uint") +
               std::to_string(8 * sizeof(T));
    else if constexpr (requires(T vector) { vector.x; })
        return type_name<decltype(T::x)>() + "x" + std::to_string(sizeof(T) / sizeof(T::x));
    else
        return "bytes" + std::to_string(sizeof(T));
}

template <auto function> struct Entry;
template <class... P, void (*function)(P...)> struct Entry<function> {
    static std::tuple<P...> unpack(Arguments arguments)
    {
        return [&]<std::size_t... i>(std::index_sequence<i...>) {
            return std::tuple<P...>(*static_cast<const P *>(arguments[i])...);
        }(std::index_sequence_for<P...>());
    }

    static void run_thread(Arguments arguments) { std::apply(function, unpack(arguments)); }

    static void run_block(Arguments arguments)
    {
        const std::tuple<P...> values = unpack(arguments);
        const dim3 size = blockDim;
        for (unsigned z = 0; z < size.z; ++z)
            for (unsigned y = 0; y < size.y; ++y)
                for (unsigned x = 0; x < size.x; ++x) {
                    threadIdx = {x, y, z};
                    std::apply(function, values);
                    if (launch->threaded())
                        return;
                }
    }

    static Kernel named(const char *name)
    {
        std::string signature;
        ((signature += (signature.empty() ? "" : ",") + type_name<P>()), ...);
        return {name, signature, run_thread, run_block};
    }
};

const std::vector<Kernel> &kernels(); // fourways.host writes it after the kernels' text

// Runs kernel `number`; `shape` is the grid, then the block. Returns what went wrong, or an empty text.
std::string run(int number, const unsigned *shape, std::size_t shared_bytes, Arguments arguments)
{
    static std::mutex one_at_a_time;
    std::lock_guard lock(one_at_a_time);
    gridDim = {shape[0], shape[1], shape[2]};
    blockDim = {shape[3], shape[4], shape[5]};
    dynamic_memory.reset(new std::byte[shared_bytes]);
    std::memset(dynamic_memory.get(), 0xFF, shared_bytes); // floats are NaN: what nobody wrote must not look right
    Launch now(kernels()[number], arguments);
    launch = &now;
    try {
        now.run();
    } catch (const std::exception &error) {
        return error.what();
    }
    return "";
}

} // namespace
} // namespace fourways

inline void __syncthreads() { fourways::launch->sync_block(); }
inline void __syncwarp(unsigned mask = ~0u) { fourways::launch->meet({mask}); }
inline unsigned __ballot_sync(unsigned mask, int vote)
{
    return fourways::launch->meet({mask, fourways::lane(), vote != 0}).votes & mask;
}
inline int __any_sync(unsigned mask, int vote) { return __ballot_sync(mask, vote) != 0; }
inline int __all_sync(unsigned mask, int vote) { return __ballot_sync(mask, !vote) == 0; }

template <class T> T __shfl_sync(unsigned mask, T value, int source, int width = warpSize)
{
    return fourways::shuffle(mask, value, fourways::first_lane(width) + (source & (width - 1)));
}
template <class T> T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = warpSize)
{
    const unsigned place = fourways::lane() - fourways::first_lane(width);
    return fourways::shuffle(mask, value, fourways::lane() - (distance <= place ? distance : 0));
}
template <class T> T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = warpSize)
{
    const unsigned place = fourways::lane() - fourways::first_lane(width);
    return fourways::shuffle(mask, value, fourways::lane() + (distance < width - place ? distance : 0));
}
template <class T> T __shfl_xor_sync(unsigned mask, T value, int bits, int width = warpSize)
{
    const unsigned source = fourways::lane() ^ bits;
    return fourways::shuffle(mask, value, source < fourways::first_lane(width) + width ? source : fourways::lane());
}

// Relaxed, as on the GPU: they order nothing else.
template <class T, class F> T atomic_update(T *place, F change)
{
    std::atomic_ref<T> cell(*place);
    T old = cell.load(std::memory_order_relaxed);
    while (!cell.compare_exchange_weak(old, change(old), std::memory_order_relaxed)) {
    }
    return old;
}
template <class T> using Same = std::type_identity_t<T>;
template <class T> T atomicAdd(T *p, Same<T> v) { return atomic_update(p, [v](T old) { return T(old + v); }); }
template <class T> T atomicSub(T *p, Same<T> v) { return atomic_update(p, [v](T old) { return T(old - v); }); }
template <class T> T atomicMax(T *p, Same<T> v) { return atomic_update(p, [v](T old) { return std::max(old, v); }); }
template <class T> T atomicMin(T *p, Same<T> v) { return atomic_update(p, [v](T old) { return std::min(old, v); }); }
template <class T> T atomicExch(T *p, Same<T> v) { return atomic_update(p, [v](T) { return v; }); }
template <class T> T atomicCAS(T *p, Same<T> expected, Same<T> v)
{
    return atomic_update(p, [=](T old) { return old == expected ? v : old; });
}

inline void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void __threadfence_block() { __threadfence(); }
template <class T> T __ldg(const T *place) { return *place; }
inline int __popc(unsigned bits) { return std::popcount(bits); }
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
using std::max;
using std::min;

#ifndef FOURWAYS_MAIN

extern "C" [[gnu::visibility("default")]] const char *fourways_signature(int number)
{
    return fourways::kernels()[number].signature.c_str();
}

extern "C" [[gnu::visibility("default")]] const char *fourways_launch(int number, const unsigned *shape,
                                                                      std::size_t shared_bytes, void **arguments)
{
    static thread_local std::string problem;
    problem = fourways::run(number, shape, shared_bytes, arguments);
    return problem.c_str();
}

#else

// The launch of host.py's _run_apart: reads a file of 64-bit words and memory blocks, runs, writes the memory back.
// Every memory block is an allocation of its exact size, so that AddressSanitizer sees the first byte past its end.
int main(int, char **argv)
{
    std::fstream file(argv[1], std::ios::in | std::ios::out | std::ios::binary);
    const auto word = [&] {
        long long value = 0;
        file.read(reinterpret_cast<char *>(&value), sizeof value);
        return value;
    };
    const int number = word();
    unsigned shape[6];
    for (unsigned &extent : shape)
        extent = word();
    const std::size_t shared_bytes = word();
    std::vector<std::pair<std::unique_ptr<char[]>, long long>> memory(word());
    for (auto &[bytes, size] : memory) {
        size = word();
        bytes.reset(new char[size]);
        file.read(bytes.get(), size);
    }
    std::vector<void *> pointers(word()), arguments;
    for (void *&pointer : pointers) { // an argument is a memory block itself, or a pointer to one
        const long long index = word();
        pointer = memory[index].first.get();
        arguments.push_back(word() ? &pointer : pointer);
    }
    const std::string problem = fourways::run(number, shape, shared_bytes, arguments.data());
    std::fputs(problem.c_str(), stderr);
    file.seekp(0);
    for (auto &[bytes, size] : memory)
        file.write(bytes.get(), size);
    file.flush();
    return problem.empty() && file ? 0 : 1;
}

#endif
