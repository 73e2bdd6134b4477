// How the lanes of a warp meet: for shuffles, votes and __syncwarp.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "runtime.hpp"

namespace fourways {

// A meeting ends when every lane that its mask names is here or gone.
class Warp {
    Visit visits[warpSize];
    std::atomic<unsigned> here = 0; // lanes that wait
    unsigned gone;                  // lanes that have returned, or never were
    std::mutex mutex;
    std::condition_variable met;

    void end_meeting_if_complete(unsigned mask)
    {
        if (mask & ~here & ~gone)
            return;
        const unsigned lanes = mask & here;
        unsigned votes = 0;
        unsigned long long brought[warpSize] = {};
        for (unsigned i = 0; i < warpSize; ++i)
            if (lanes >> i & 1) {
                brought[i] = visits[i].value;
                votes |= unsigned(brought[i] != 0) << i;
            }
        for (unsigned i = 0; i < warpSize; ++i)
            if (lanes >> i & 1) {
                visits[i].mask = lanes;
                visits[i].votes = votes;
                if (visits[i].all)
                    std::copy(brought, brought + warpSize, visits[i].all);
                visits[i].value = lanes >> visits[i].source & 1 ? brought[visits[i].source] : visits[i].value;
            }
        here &= ~lanes;
        met.notify_all();
    }

public:
    explicit Warp(unsigned lanes) : gone(lanes < warpSize ? ~0u << lanes : 0) {}

    Visit meet(Visit visit)
    {
        const unsigned me = lane();
        visit.mask |= 1u << me;
        const auto released = [&] { return !(here >> me & 1); };
        std::unique_lock lock(mutex);
        visits[me] = visit;
        here |= 1u << me;
        end_meeting_if_complete(visit.mask);
        lock.unlock();
        for (int i = 0; i < 100 && !released(); ++i) // the others are soon there: cheaper than to sleep and be woken
            std::this_thread::yield();
        lock.lock();
        if (!met.wait_for(lock, std::chrono::seconds(lane_patience), released)) {
            here &= ~(1u << me);
            throw std::runtime_error("thread " + std::to_string(rank()) + " of its block waited " +
                                     std::to_string(lane_patience) + " s in a shuffle, a vote or __syncwarp for " +
                                     "lanes that its mask names and that did not come");
        }
        return visits[me];
    }

    void leave(unsigned me)
    {
        std::lock_guard lock(mutex);
        gone |= 1u << me;
        for (unsigned i = 0; i < warpSize; ++i)
            if (here >> i & 1 && visits[i].mask >> me & 1)
                end_meeting_if_complete(visits[i].mask);
    }
};

} // namespace fourways
