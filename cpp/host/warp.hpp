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

#ifdef __has_feature // Clang's
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ // GCC's
#endif
#endif

namespace fourways {

// What ThreadSanitizer may conclude from a meeting: __syncwarp orders what its lanes did before and do after it. From the
// warp's mutex it would conclude more: a lane that comes to the next meeting would be ordered before one that leaves
// this one late, and races between them would be missed.
#ifdef __SANITIZE_THREAD__
extern "C" void __tsan_acquire(void *), __tsan_release(void *);
extern "C" void AnnotateIgnoreSyncBegin(const char *, int), AnnotateIgnoreSyncEnd(const char *, int);
extern "C" void AnnotateIgnoreReadsBegin(const char *, int), AnnotateIgnoreReadsEnd(const char *, int);
extern "C" void AnnotateIgnoreWritesBegin(const char *, int), AnnotateIgnoreWritesEnd(const char *, int);

struct Order {
    char place[8];
    void acquire() { __tsan_acquire(place); }
    void release() { __tsan_release(place); }
};
inline void ignore_order(bool ignore) { (ignore ? AnnotateIgnoreSyncBegin : AnnotateIgnoreSyncEnd)("", 0); }
inline void ignore_accesses(bool ignore)
{
    (ignore ? AnnotateIgnoreReadsBegin : AnnotateIgnoreReadsEnd)("", 0);
    (ignore ? AnnotateIgnoreWritesBegin : AnnotateIgnoreWritesEnd)("", 0);
}
#else
struct Order {
    void acquire() {}
    void release() {}
};
inline void ignore_order(bool) {}
inline void ignore_accesses(bool) {}
#endif

struct Unseen { // by ThreadSanitizer
    Unseen() { ignore_order(true), ignore_accesses(true); }
    ~Unseen() { ignore_accesses(false), ignore_order(false); }
};

// A meeting ends when every lane that its mask names is here or gone.
class Warp {
    Visit visits[warpSize];
    Order before[warpSize], after[warpSize];
    std::atomic<unsigned> here = 0; // lanes that wait
    unsigned gone;                  // lanes that have returned, or never were
    std::mutex mutex;
    std::condition_variable met;

    void order(unsigned lanes)
    {
        ignore_order(false);
        for (unsigned i = 0; i < warpSize; ++i)
            if (lanes >> i & 1 && visits[i].orders)
                before[i].acquire();
        for (unsigned i = 0; i < warpSize; ++i)
            if (lanes >> i & 1 && visits[i].orders)
                after[i].release();
        ignore_order(true);
    }

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
        order(lanes);
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

    Visit wait(Visit visit)
    {
        const unsigned me = lane();
        visit.mask |= 1u << me;
        const auto released = [&] { return !(here >> me & 1); };
        const Unseen unseen;
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

public:
    explicit Warp(unsigned lanes) : gone(lanes < warpSize ? ~0u << lanes : 0) {}

    Visit meet(Visit visit)
    {
        if (visit.orders)
            before[lane()].release();
        visit = wait(visit);
        if (visit.orders)
            after[lane()].acquire();
        return visit;
    }

    void leave(unsigned me)
    {
        const Unseen unseen;
        std::lock_guard lock(mutex);
        gone |= 1u << me;
        for (unsigned i = 0; i < warpSize; ++i)
            if (here >> i & 1 && visits[i].mask >> me & 1)
                end_meeting_if_complete(visits[i].mask);
    }
};

} // namespace fourways
