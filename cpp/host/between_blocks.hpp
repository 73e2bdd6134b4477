// Finds races between blocks, in a program compiled with -DFOURWAYS_BLOCKS.
//
// The compiler instruments the kernel's unit as for ThreadSanitizer (-fsanitize=thread): before each access to memory it
// calls a function __tsan_…. Those functions stand here, in the place of ThreadSanitizer's. They record which block
// accessed each word of the launch's arrays. Blocks still run one after another, so what a kernel computes is unchanged.
//
// Two accesses by two blocks race if one writes, they are not both atomic, and nothing orders them. As on the GPU, this
// orders them: the first block's thread calls __threadfence() and then writes a place atomically; the second block
// reads that place atomically. A volatile access counts as atomic. Memory that is in no array of the launch, such as a
// __device__ variable, is not looked at. Writes of one value are a race, too: it is reported if there is no other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime.hpp"

namespace fourways {

struct Access {
    const void *code; // the instruction after the access
    unsigned block, thread;
    unsigned epoch; // how often a thread of this block had called __threadfence() before
    unsigned char bytes; // a bit for each byte of the word
    bool writes, atomic;
};

// A race, as it is sent to Python, which turns it into a message; its struct is "12q".
struct Race {
    long long kind = -1; // in the place of a signal's number
    long long memory, offset;
    long long later_code, later_deed, later_thread, later_block;
    long long earlier_code, earlier_deed, earlier_thread, earlier_block;
    long long of_one_value = 0; // 1: both blocks wrote the same
};
[[noreturn]] void end_with(Race race); // of process.cpp

class BetweenBlocks {
    struct Array {
        const char *begin;
        std::size_t size;
        std::vector<std::vector<Access>> words; // of 8 bytes
    };
    struct Written { // over what another block wrote: the same, or something else?
        Race race;
        const char *place;
        unsigned bytes; // as in Access
        char before[8];
    };
    using Clock = std::unordered_map<unsigned, unsigned>; // by block: its accesses before this epoch are known

    std::mutex mutex;
    std::vector<Array> arrays;
    std::unordered_map<const void *, Clock> published; // by the address of an atomic
    unsigned block, epoch;                             // the present ones
    Clock known;                                       // to the present block
    std::vector<unsigned> fences;                      // by thread: the epoch that its last fence began
    std::vector<Written> written;                      // by the present block
    std::optional<Race> of_one_value;                  // the first one

    void enter_block()
    {
        const unsigned now = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        if (now == block)
            return;
        compare_written();
        block = now, epoch = 0;
        known.clear();
        fences.assign(blockDim.x * blockDim.y * blockDim.z, 0);
    }

    void compare_written()
    {
        for (Written &each : written) {
            for (unsigned byte = 0; byte < 8; ++byte)
                if (each.bytes >> byte & 1 && each.place[byte] != each.before[byte])
                    end_with(each.race);
            each.race.of_one_value = 1;
            of_one_value = of_one_value ? of_one_value : each.race;
        }
        written.clear();
    }

    static void learn(Clock &clock, const Clock &from)
    {
        for (const auto &[block, epoch] : from)
            clock[block] = std::max(clock[block], epoch);
    }

    bool before_present(const Access &access) const
    {
        const auto found = known.find(access.block);
        return found != known.end() && access.epoch < found->second;
    }

    void note(std::vector<Access> &word, const Access &now, std::size_t memory, std::size_t first)
    {
        for (const Access &earlier : word)
            if (earlier.block != block && earlier.bytes & now.bytes && (earlier.writes || now.writes) &&
                !(earlier.atomic && now.atomic) && !before_present(earlier)) {
                const unsigned bytes = earlier.bytes & now.bytes;
                const std::size_t offset = first + __builtin_ctz(bytes);
                const auto number = [](auto value) { return static_cast<long long>(value); };
                const auto place = [](const void *code) { return reinterpret_cast<long long>(code); };
                const Race race{-1, number(memory), number(offset), place(now.code), now.writes + 2 * now.atomic,
                                now.thread, now.block, place(earlier.code), earlier.writes + 2 * earlier.atomic,
                                earlier.thread, earlier.block};
                if (!earlier.writes || !now.writes)
                    end_with(race);
                Written &here = written.emplace_back(race, arrays[memory].begin + first, bytes);
                for (unsigned byte = 0; byte < 8; ++byte)
                    here.before[byte] = bytes >> byte & 1 ? here.place[byte] : 0;
            }
        // A write replaces what was there; of reads two stay, by different blocks: a later write races with one at least.
        std::size_t alike = 0;
        std::erase_if(word, [&](const Access &earlier) {
            const bool covered = !(earlier.bytes & ~now.bytes) && earlier.atomic == now.atomic;
            alike += covered && !earlier.writes && earlier.block != block;
            return covered && (now.writes || (!earlier.writes && (earlier.block == block || alike > 1)));
        });
        word.push_back(now);
    }

public:
    void begin_launch()
    {
        arrays.clear();
        published.clear();
        of_one_value.reset();
        block = ~0u;
    }
    void end_launch()
    {
        compare_written();
        if (of_one_value)
            end_with(*of_one_value);
    }
    void watch_array(const char *begin, std::size_t size) { arrays.push_back({begin, size, {}}); }

    void access(const void *place, std::size_t size, bool writes, bool atomic, const void *code)
    {
        const auto *const address = static_cast<const char *>(place);
        for (std::size_t memory = 0; memory < arrays.size(); ++memory) {
            Array &array = arrays[memory];
            if (address < array.begin || address >= array.begin + array.size)
                continue;
            std::lock_guard lock(mutex);
            enter_block();
            array.words.resize(array.size / 8 + 1);
            const std::size_t first = address - array.begin, end = std::min(first + size, array.size);
            for (std::size_t word = first / 8; word * 8 < end; ++word) {
                unsigned bytes = 0;
                for (std::size_t byte = std::max(first, word * 8); byte < std::min(end, word * 8 + 8); ++byte)
                    bytes |= 1u << byte % 8;
                note(array.words[word],
                     {code, block, rank(), epoch, static_cast<unsigned char>(bytes), writes, atomic}, memory, word * 8);
            }
        }
    }

    void fence()
    {
        std::lock_guard lock(mutex);
        enter_block();
        fences[rank()] = ++epoch;
    }

    // An atomic access, after whose `order` of C++ it also orders others.
    void synchronise(const void *place, std::size_t size, bool writes, int order, const void *code)
    {
        access(place, size, writes, true, code);
        if (writes && order >= __ATOMIC_RELEASE)
            fence();
        std::lock_guard lock(mutex);
        enter_block();
        Clock &clock = published[place];
        learn(known, clock);
        if (writes && fences[rank()]) {
            learn(clock, known);
            clock[block] = std::max(clock[block], fences[rank()]);
        }
    }
};

inline BetweenBlocks between_blocks;

} // namespace fourways

// The functions that GCC and Clang call.
extern "C" {

#define FOURWAYS_CODE __builtin_extract_return_addr(__builtin_return_address(0))
#define FOURWAYS_PLAIN(name, size, writes)                                                                             \
    void __tsan_##name(void *place) { fourways::between_blocks.access(place, size, writes, false, FOURWAYS_CODE); }
#define FOURWAYS_VOLATILE(name, size, writes)                                                                          \
    void __tsan_##name(void *place)                                                                                    \
    {                                                                                                                  \
        fourways::between_blocks.synchronise(place, size, writes, __ATOMIC_RELAXED, FOURWAYS_CODE);                    \
    }
#define FOURWAYS_SIZE(size)                                                                                            \
    FOURWAYS_PLAIN(read##size, size, false)                                                                            \
    FOURWAYS_PLAIN(write##size, size, true)                                                                            \
    FOURWAYS_PLAIN(unaligned_read##size, size, false)                                                                  \
    FOURWAYS_PLAIN(unaligned_write##size, size, true)                                                                  \
    FOURWAYS_PLAIN(read_write##size, size, true)                                                                       \
    FOURWAYS_PLAIN(unaligned_read_write##size, size, true)                                                             \
    FOURWAYS_VOLATILE(volatile_read##size, size, false)                                                                \
    FOURWAYS_VOLATILE(volatile_write##size, size, true)                                                                \
    FOURWAYS_VOLATILE(unaligned_volatile_read##size, size, false)                                                      \
    FOURWAYS_VOLATILE(unaligned_volatile_write##size, size, true)
FOURWAYS_SIZE(1)
FOURWAYS_SIZE(2)
FOURWAYS_SIZE(4)
FOURWAYS_SIZE(8)
FOURWAYS_SIZE(16)

#define FOURWAYS_CHANGE(bits, type, name, change)                                                                      \
    type __tsan_atomic##bits##_##name(volatile type *place, type value, int order)                                     \
    {                                                                                                                  \
        fourways::between_blocks.synchronise((void *)place, bits / 8, true, order, FOURWAYS_CODE);                     \
        return change(place, value, __ATOMIC_SEQ_CST);                                                                 \
    }
#define FOURWAYS_COMPARE(bits, type, name)                                                                             \
    bool __tsan_atomic##bits##_##name(volatile type *place, type *old, type value, int order, int)                     \
    {                                                                                                                  \
        fourways::between_blocks.synchronise((void *)place, bits / 8, true, order, FOURWAYS_CODE);                     \
        return __atomic_compare_exchange_n(place, old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);              \
    }
#define FOURWAYS_ATOMIC(bits, type)                                                                                    \
    type __tsan_atomic##bits##_load(const volatile type *place, int order)                                             \
    {                                                                                                                  \
        fourways::between_blocks.synchronise((void *)place, bits / 8, false, order, FOURWAYS_CODE);                    \
        return __atomic_load_n(place, __ATOMIC_SEQ_CST);                                                               \
    }                                                                                                                  \
    void __tsan_atomic##bits##_store(volatile type *place, type value, int order)                                      \
    {                                                                                                                  \
        fourways::between_blocks.synchronise((void *)place, bits / 8, true, order, FOURWAYS_CODE);                     \
        __atomic_store_n(place, value, __ATOMIC_SEQ_CST);                                                              \
    }                                                                                                                  \
    FOURWAYS_CHANGE(bits, type, exchange, __atomic_exchange_n)                                                         \
    FOURWAYS_CHANGE(bits, type, fetch_add, __atomic_fetch_add)                                                         \
    FOURWAYS_CHANGE(bits, type, fetch_sub, __atomic_fetch_sub)                                                         \
    FOURWAYS_CHANGE(bits, type, fetch_and, __atomic_fetch_and)                                                         \
    FOURWAYS_CHANGE(bits, type, fetch_or, __atomic_fetch_or)                                                           \
    FOURWAYS_CHANGE(bits, type, fetch_xor, __atomic_fetch_xor)                                                         \
    FOURWAYS_CHANGE(bits, type, fetch_nand, __atomic_fetch_nand)                                                       \
    FOURWAYS_COMPARE(bits, type, compare_exchange_strong)                                                              \
    FOURWAYS_COMPARE(bits, type, compare_exchange_weak)                                                                \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *place, type old, type value, int order, int)        \
    {                                                                                                                  \
        fourways::between_blocks.synchronise((void *)place, bits / 8, true, order, FOURWAYS_CODE);                     \
        __atomic_compare_exchange_n(place, &old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                    \
        return old;                                                                                                    \
    }
FOURWAYS_ATOMIC(8, std::uint8_t)
FOURWAYS_ATOMIC(16, std::uint16_t)
FOURWAYS_ATOMIC(32, std::uint32_t)
FOURWAYS_ATOMIC(64, std::uint64_t)

void __tsan_atomic_thread_fence(int) { fourways::between_blocks.fence(); }
void __tsan_atomic_signal_fence(int) {}
void __tsan_read_range(void *place, std::size_t size)
{
    fourways::between_blocks.access(place, size, false, false, FOURWAYS_CODE);
}
void __tsan_write_range(void *place, std::size_t size)
{
    fourways::between_blocks.access(place, size, true, false, FOURWAYS_CODE);
}
void *__tsan_memset(void *place, int value, std::size_t size)
{
    fourways::between_blocks.access(place, size, true, false, FOURWAYS_CODE);
    return std::memset(place, value, size);
}
void *__tsan_memmove(void *to, const void *from, std::size_t size)
{
    fourways::between_blocks.access(from, size, false, false, FOURWAYS_CODE);
    fourways::between_blocks.access(to, size, true, false, FOURWAYS_CODE);
    return std::memmove(to, from, size);
}
void *__tsan_memcpy(void *to, const void *from, std::size_t size)
{
    fourways::between_blocks.access(from, size, false, false, FOURWAYS_CODE);
    fourways::between_blocks.access(to, size, true, false, FOURWAYS_CODE);
    return std::memmove(to, from, size);
}
void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void **) {}
void __tsan_vptr_update(void **, void *) {}
}
