// CUDA's functions of bits and integers, for the CPU; loads and stores with a hint for the cache; clocks.
#pragma once

#include <cassert>
#include <cstdlib>

#include "math.hpp"
#include "runtime.hpp"

namespace fourways {

template <class Bits> constexpr Bits reversed(Bits bits)
{
    Bits all = 0;
    for (unsigned i = 0; i < 8 * sizeof(Bits); ++i)
        all = all << 1 | (bits >> i & 1);
    return all;
}

constexpr int low_24_bits(int x) { return int(unsigned(x) << 8) >> 8; }

// The word whose lanes, of type Lane, are `change` of the lanes of a and b.
template <class Lane, class Change> unsigned lanes(unsigned a, unsigned b, Change change)
{
    Lane x[4 / sizeof(Lane)], y[4 / sizeof(Lane)];
    __builtin_memcpy(x, &a, 4);
    __builtin_memcpy(y, &b, 4);
    for (unsigned i = 0; i < 4 / sizeof(Lane); ++i)
        x[i] = Lane(change(int(x[i]), int(y[i])));
    __builtin_memcpy(&a, x, 4);
    return a;
}
template <class Lane> unsigned sum_of_lanes(unsigned word)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < 4 / sizeof(Lane); ++i)
        sum += Lane(word >> i * 8 * sizeof(Lane));
    return sum;
}
template <class Lane> int saturated(int x)
{
    constexpr int lowest = Lane(-1) < Lane(0) ? -(1 << (8 * sizeof(Lane) - 1)) : 0;
    constexpr int highest = lowest + (1 << 8 * sizeof(Lane)) - 1;
    return x < lowest ? lowest : x > highest ? highest : x;
}

} // namespace fourways

inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline unsigned __brev(unsigned x) { return fourways::reversed(x); }
inline unsigned long long __brevll(unsigned long long x) { return fourways::reversed(x); }
inline unsigned __fns(unsigned mask, unsigned base, int offset)
{
    if (offset == 0)
        return mask >> base & 1 ? base : ~0u;
    for (int place = base, step = offset > 0 ? 1 : -1; place >= 0 && place < 32; place += step)
        if (mask >> place & 1 && !(offset -= step))
            return place;
    return ~0u;
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector)
{
    const unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned word = 0;
    for (int i = 0; i < 4; ++i)
        word |= (bytes >> 8 * (selector >> 4 * i & 7) & 0xFF) << 8 * i;
    return word;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    return ((unsigned long long)high << 32 | low) << (shift & 31) >> 32;
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift)
{
    return shift < 32 ? __funnelshift_l(low, high, shift) : low;
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return ((unsigned long long)high << 32 | low) >> (shift & 31);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift)
{
    return shift < 32 ? __funnelshift_r(low, high, shift) : high;
}

inline int __mul24(int x, int y)
{
    return (long long)fourways::low_24_bits(x) * fourways::low_24_bits(y);
}
inline unsigned __umul24(unsigned x, unsigned y) { return (x & 0xFFFFFF) * (y & 0xFFFFFF); }
inline int __mulhi(int x, int y) { return (long long)x * y >> 32; }
inline unsigned __umulhi(unsigned x, unsigned y) { return (unsigned long long)x * y >> 32; }
inline long long __mul64hi(long long x, long long y) { return (__int128)x * y >> 64; }
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y)
{
    return (unsigned __int128)x * y >> 64;
}
inline unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x < y ? y - x : x - y); }
inline unsigned __sad(int x, int y, unsigned z) { return z + (x < y ? unsigned(y) - x : unsigned(x) - y); }
inline int __hadd(int x, int y) { return ((long long)x + y) >> 1; }
inline int __rhadd(int x, int y) { return ((long long)x + y + 1) >> 1; }
inline unsigned __uhadd(unsigned x, unsigned y) { return ((unsigned long long)x + y) >> 1; }
inline unsigned __urhadd(unsigned x, unsigned y) { return ((unsigned long long)x + y + 1) >> 1; }

// Sums of products of bytes with bytes (__dp4a), and of 16 bits with bytes (__dp2a), added to `sum`.
#define FOURWAYS_DOT(Sum, Bytes, Shorts)                                                                               \
    inline Sum __dp4a(Bytes a, Bytes b, Sum sum) { return sum + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }       \
    inline Sum __dp2a_lo(Shorts a, Bytes b, Sum sum) { return sum + a.x * b.x + a.y * b.y; }                           \
    inline Sum __dp2a_hi(Shorts a, Bytes b, Sum sum) { return sum + a.x * b.z + a.y * b.w; }                           \
    inline Sum __dp4a(Sum a, Sum b, Sum sum) { return __dp4a(fourways::as<Bytes>(a), fourways::as<Bytes>(b), sum); }   \
    inline Sum __dp2a_lo(Sum a, Sum b, Sum sum)                                                                        \
    {                                                                                                                  \
        return __dp2a_lo(fourways::as<Shorts>(a), fourways::as<Bytes>(b), sum);                                        \
    }                                                                                                                  \
    inline Sum __dp2a_hi(Sum a, Sum b, Sum sum)                                                                        \
    {                                                                                                                  \
        return __dp2a_hi(fourways::as<Shorts>(a), fourways::as<Bytes>(b), sum);                                        \
    }
FOURWAYS_DOT(int, char4, short2)
FOURWAYS_DOT(unsigned, uchar4, ushort2)

// Two lanes of 16 bits, or four of 8, in a word: s is signed, u unsigned, ss and us saturate.
#define FOURWAYS_LANES(name, Lane, formula)                                                                            \
    inline unsigned name(unsigned a, unsigned b)                                                                       \
    {                                                                                                                  \
        return fourways::lanes<Lane>(a, b, [](int x, [[maybe_unused]] int y) { return formula; });                     \
    }
#define FOURWAYS_ONE(name, Lane, formula)                                                                              \
    inline unsigned name(unsigned a) { return fourways::lanes<Lane>(a, 0, [](int x, int) { return formula; }); }
#define FOURWAYS_COMPARE(name, Lane, relation)                                                                         \
    FOURWAYS_LANES(__vcmp##name, Lane, x relation y ? -1 : 0) FOURWAYS_LANES(__vset##name, Lane, x relation y)
#define FOURWAYS_SIMD(count, Unsigned, Signed)                                                                         \
    FOURWAYS_LANES(__vadd##count, Unsigned, x + y)                                                                     \
    FOURWAYS_LANES(__vsub##count, Unsigned, x - y)                                                                     \
    FOURWAYS_LANES(__vaddss##count, Signed, fourways::saturated<Signed>(x + y))                                        \
    FOURWAYS_LANES(__vaddus##count, Unsigned, fourways::saturated<Unsigned>(x + y))                                    \
    FOURWAYS_LANES(__vsubss##count, Signed, fourways::saturated<Signed>(x - y))                                        \
    FOURWAYS_LANES(__vsubus##count, Unsigned, fourways::saturated<Unsigned>(x - y))                                    \
    FOURWAYS_LANES(__vavgs##count, Signed, (x + y + (x + y >= 0)) >> 1)                                                \
    FOURWAYS_LANES(__vavgu##count, Unsigned, (x + y + 1) >> 1)                                                         \
    FOURWAYS_LANES(__vhaddu##count, Unsigned, (x + y) >> 1)                                                            \
    FOURWAYS_LANES(__vmaxs##count, Signed, max(x, y))                                                                  \
    FOURWAYS_LANES(__vmaxu##count, Unsigned, max(x, y))                                                                \
    FOURWAYS_LANES(__vmins##count, Signed, min(x, y))                                                                  \
    FOURWAYS_LANES(__vminu##count, Unsigned, min(x, y))                                                                \
    FOURWAYS_LANES(__vabsdiffs##count, Signed, abs(x - y))                                                             \
    FOURWAYS_LANES(__vabsdiffu##count, Unsigned, abs(x - y))                                                           \
    FOURWAYS_ONE(__vabs##count, Signed, abs(x))                                                                        \
    FOURWAYS_ONE(__vabsss##count, Signed, fourways::saturated<Signed>(abs(x)))                                         \
    FOURWAYS_ONE(__vneg##count, Signed, -x)                                                                            \
    FOURWAYS_ONE(__vnegss##count, Signed, fourways::saturated<Signed>(-x))                                             \
    FOURWAYS_COMPARE(eq##count, Unsigned, ==)                                                                          \
    FOURWAYS_COMPARE(ne##count, Unsigned, !=)                                                                          \
    FOURWAYS_COMPARE(ges##count, Signed, >=)                                                                           \
    FOURWAYS_COMPARE(geu##count, Unsigned, >=)                                                                         \
    FOURWAYS_COMPARE(gts##count, Signed, >)                                                                            \
    FOURWAYS_COMPARE(gtu##count, Unsigned, >)                                                                          \
    FOURWAYS_COMPARE(les##count, Signed, <=)                                                                           \
    FOURWAYS_COMPARE(leu##count, Unsigned, <=)                                                                         \
    FOURWAYS_COMPARE(lts##count, Signed, <)                                                                            \
    FOURWAYS_COMPARE(ltu##count, Unsigned, <)                                                                          \
    inline unsigned __vsads##count(unsigned a, unsigned b)                                                             \
    {                                                                                                                  \
        return fourways::sum_of_lanes<Unsigned>(__vabsdiffs##count(a, b));                                             \
    }                                                                                                                  \
    inline unsigned __vsadu##count(unsigned a, unsigned b)                                                             \
    {                                                                                                                  \
        return fourways::sum_of_lanes<Unsigned>(__vabsdiffu##count(a, b));                                             \
    }
FOURWAYS_SIMD(2, unsigned short, short)
FOURWAYS_SIMD(4, unsigned char, signed char)

// Hints for a GPU's caches.
#define FOURWAYS_LOAD(name)                                                                                            \
    template <class Value> Value name(const Value *place) { return *place; }
#define FOURWAYS_STORE(name)                                                                                           \
    template <class Value> void name(Value *place, std::type_identity_t<Value> value) { *place = value; }
FOURWAYS_LOAD(__ldg)
FOURWAYS_LOAD(__ldca)
FOURWAYS_LOAD(__ldcg)
FOURWAYS_LOAD(__ldcs)
FOURWAYS_LOAD(__ldcv)
FOURWAYS_LOAD(__ldlu)
FOURWAYS_STORE(__stcg)
FOURWAYS_STORE(__stcs)
FOURWAYS_STORE(__stwb)
FOURWAYS_STORE(__stwt)

extern "C" long clock() noexcept; // C's: its header declares names that kernels use, such as time
inline long long clock64() { return fourways::nanoseconds(); }
inline void __nanosleep(unsigned nanoseconds) { fourways::sleep(nanoseconds); }

inline void __trap() { std::abort(); }
inline void __brkpt() { __trap(); }
inline void __prof_trigger(int) {}
#define __builtin_assume(condition) assert(condition)
