// How a kernel runs on the CPU: blocks one after another, threads as plain loops or as OS threads.
#pragma once

#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "warp.hpp"

namespace fourways {

inline std::atomic<long long> finished_blocks = 0; // of the present launch
void prepare_thread();                             // of process.cpp, as the next one
void watch_from_now_on();

// One kernel on one grid. OS threads, once made, serve all blocks: each is the same CUDA thread of block after block.
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
    std::mutex failing;
    std::deque<Warp> warps;
    struct NextBarrier {
        Launch *launch;
        void operator()() noexcept
        {
            launch->first_waiting.store(nobody, std::memory_order_relaxed);
            launch->counted = launch->votes.exchange(0, std::memory_order_relaxed);
        }
    };
    static constexpr long long nobody = -1;
    std::atomic<long long> first_waiting = nobody;    // at the present barrier: its line in the kernel, and the thread
    std::atomic<unsigned> votes = 0;                  // of those who have come to it
    unsigned counted;                                 // at the last one
    std::optional<std::barrier<NextBarrier>> threads; // those of the block that have not returned
    std::barrier<NextBlock> block_end{size, {this}};
    std::atomic<int> start = waiting;
    std::vector<std::jthread> workers;

    void next_block()
    {
        ++finished_blocks;
        if (++blockIdx.x == gridDim.x)
            blockIdx.x = 0, ++blockIdx.y;
        if (blockIdx.y == gridDim.y)
            blockIdx.y = 0, ++blockIdx.z;
        done = failure || blockIdx.z == gridDim.z;
        if (threaded)
            form_block(0);
    }

    void form_block(unsigned returned) // its first `returned` threads have returned already
    {
        first_waiting.store(nobody, std::memory_order_relaxed);
        threads.emplace(size - returned, NextBarrier{this});
        warps.clear();
        for (unsigned first = 0; first < size; first += warpSize)
            warps.emplace_back(size - first);
        for (unsigned thread = 0; thread < returned; ++thread)
            warps[thread / warpSize].leave(thread % warpSize);
    }

    void keep_failure()
    {
        std::lock_guard lock(failing);
        failure = failure ? failure : std::current_exception();
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
            keep_failure();
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
        prepare_thread();
        threadIdx = {thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / blockDim.x / blockDim.y};
        start.wait(waiting);
        if (start == given_up)
            return;
        if (thread > caller)
            run_thread();
        run_later_blocks();
    }

    // The caller becomes the OS thread of the CUDA thread that it runs; those before it have returned.
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
            throw std::runtime_error("cannot start " + std::to_string(size) + " OS threads, one for each thread of a " +
                                     "block (" + error.what() + "): use a smaller block");
        }
        form_block(caller);
        threaded = true;
        start = started;
        start.notify_all();
    }

public:
    Launch(const Kernel &kernel, Arguments arguments) : kernel(kernel), arguments(arguments) {}

    unsigned sync_block(int line, bool vote)
    {
        if (!threaded)
            become_threads();
        const long long here = static_cast<long long>(line) * 1024 + rank();
        long long first = first_waiting.load(std::memory_order_relaxed);
        if (first == nobody)
            first_waiting.compare_exchange_strong(first, here, std::memory_order_relaxed);
        if (first != nobody && first / 1024 != line)
            throw std::runtime_error("thread " + std::to_string(first % 1024) + " of its block waits in the " +
                                     "__syncthreads() of line " + std::to_string(first / 1024) + ", thread " +
                                     std::to_string(rank()) + " in that of line " + std::to_string(line) +
                                     ": all threads of a block must come to the same one");
        votes.fetch_add(vote, std::memory_order_relaxed);
        threads->arrive_and_wait();
        return counted;
    }

    Visit meet(Visit visit)
    {
        if (!threaded)
            become_threads();
        return warps[rank() / warpSize].meet(visit);
    }

    void run()
    {
        blockIdx = threadIdx = {};
        threaded = false;
        try {
            if (threads_first)
                become_threads();
            watch_from_now_on(); // after the CUDA threads: sanitizers number threads as they come
            if (threads_first)
                kernel.run_thread(arguments);
            while (!threaded && !done) {
                kernel.run_block(arguments);
                if (!threaded)
                    next_block();
            }
        } catch (...) {
            keep_failure();
        }
        if (threaded) {
            leave_block();
            run_later_blocks();
        }
        workers.clear(); // joins them
        if (failure)
            std::rethrow_exception(failure);
    }
};

inline Launch *launch; // the running one; there is one at a time

// Runs kernel `number`; `shape` is the grid, then the block. Returns what went wrong: nothing, if it is empty.
inline std::string run(int number, const unsigned *shape, char *shared, std::size_t shared_bytes, Arguments arguments)
{
    gridDim = {shape[0], shape[1], shape[2]};
    blockDim = {shape[3], shape[4], shape[5]};
    dynamic_memory = shared;
    std::memset(shared, 0xFF, shared_bytes); // floats are NaN: what nobody wrote must not look right
    Launch now(kernels[number], arguments);
    launch = &now;
    std::string problem;
    try {
        now.run();
    } catch (const std::exception &error) {
        problem = error.what();
    }
    std::fflush(stdout); // what the kernel printed
    return problem;
}

} // namespace fourways
