// CUDA's functions of numbers, for the CPU: overloads, rounding in a given direction, conversions.
//
// Where CUDA approximates (__expf, __fdividef), the accurate function stands here: the error that a GPU makes there is
// not imitated.
#pragma once

#include <cstddef>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS // std::legendre and its like take longer to read than the rest of this file
#include <fenv.h>
#include <math.h> // C++'s: in the global namespace, too, with the overloads for float

#include <math_constants.h>
#include <vector_types.h>

extern "C" double exp10(double) noexcept; // the C library has them, but its newest header does not always say so
extern "C" float exp10f(float) noexcept;

namespace fourways {
// Those that C++ lacks, as CUDA's own header defines them for the CPU. Newer C libraries have some of them: hence the
// namespace.
namespace cuda {
#define __CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__
#define __CUDA_INTERNAL_COMPILATION__
#include <crt/math_functions.hpp>
#undef __CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__
#undef __CUDA_INTERNAL_COMPILATION__
#undef __func__
#undef __device_func__
} // namespace cuda

template <class To, class From> To as(From value) { return __builtin_bit_cast(To, value); }

inline double bessel_i(int order, double x) // order 0 or 1; by its series, whose terms have one sign
{
    double term = order ? x / 2 : 1, sum = term;
    for (int k = 1; fabs(term) > 1e-17 * fabs(sum); ++k)
        sum += term *= x / 2 * (x / 2) / (k * (k + order));
    return sum;
}

// An integer of a float that is whole. As on the GPU, what lies outside becomes the nearest that there is.
template <class To, class From> To to_integer(From whole)
{
    constexpr bool is_signed = To(-1) < To(0);
    constexpr To lowest = is_signed ? To(1) << (8 * sizeof(To) - 1) : To(0), highest = ~lowest;
    if (whole != whole) // NaN
        return sizeof(From) == 4 && sizeof(To) == 4 ? To(0) : To(1) << (8 * sizeof(To) - 1);
    const From end = ldexp(From(1), 8 * sizeof(To) - is_signed); // the first beyond
    return whole >= end ? highest : whole < (is_signed ? -end : From(0)) ? lowest : To(whole);
}

// `change` of the values, rounded in that direction. Nothing volatile is computed before, or after.
template <class Result, class Value, class Change>
Result rounded(int direction, Change change, Value x, Value y = {}, Value z = {})
{
    const int before = fegetround();
    const volatile Value values[] = {x, y, z};
    fesetround(direction);
    const volatile Result result = change(values[0], values[1], values[2]);
    fesetround(before);
    return result;
}

} // namespace fourways

// noexcept, because a newer C library declares some of them.
#define FOURWAYS_OVERLOAD(name)                                                                                        \
    inline float name(float x) { return name##f(x); }
#define FOURWAYS_FUNCTION(name)                                                                                        \
    inline double name(double x) noexcept { return fourways::cuda::name(x); }                                          \
    inline float name##f(float x) noexcept { return fourways::cuda::name##f(x); }                                      \
    FOURWAYS_OVERLOAD(name)
FOURWAYS_FUNCTION(cospi)
FOURWAYS_FUNCTION(erfcinv)
FOURWAYS_FUNCTION(erfcx)
FOURWAYS_FUNCTION(erfinv)
FOURWAYS_FUNCTION(normcdf)
FOURWAYS_FUNCTION(normcdfinv)
FOURWAYS_FUNCTION(rcbrt)
FOURWAYS_FUNCTION(rsqrt)
FOURWAYS_FUNCTION(sinpi)
FOURWAYS_OVERLOAD(exp10)
FOURWAYS_OVERLOAD(j0)
FOURWAYS_OVERLOAD(j1)
FOURWAYS_OVERLOAD(y0)
FOURWAYS_OVERLOAD(y1)
using fourways::cuda::sincospi, fourways::cuda::sincospif;
inline float jn(int n, float x) { return jnf(n, x); }
inline float yn(int n, float x) { return ynf(n, x); }
inline void sincos(float x, float *sine, float *cosine) { sincosf(x, sine, cosine); }
inline void sincospi(float x, float *sine, float *cosine) { sincospif(x, sine, cosine); }

inline double cyl_bessel_i0(double x) { return fourways::bessel_i(0, x); }
inline double cyl_bessel_i1(double x) { return fourways::bessel_i(1, x); }
inline float cyl_bessel_i0f(float x) { return fourways::bessel_i(0, x); }
inline float cyl_bessel_i1f(float x) { return fourways::bessel_i(1, x); }
inline float cyl_bessel_i0(float x) { return cyl_bessel_i0f(x); }
inline float cyl_bessel_i1(float x) { return cyl_bessel_i1f(x); }

// The types are those of CUDA's overloads: unsigned wins, and a call that is ambiguous there is so here.
#define FOURWAYS_EXTREME(name, relation)                                                                               \
    constexpr int name(int a, int b) { return a relation b ? a : b; }                                                  \
    constexpr unsigned u##name(unsigned a, unsigned b) { return a relation b ? a : b; }                                \
    constexpr long long ll##name(long long a, long long b) { return a relation b ? a : b; }                            \
    constexpr unsigned long long ull##name(unsigned long long a, unsigned long long b) { return a relation b ? a : b; } \
    constexpr unsigned name(unsigned a, unsigned b) { return u##name(a, b); }                                          \
    constexpr unsigned name(int a, unsigned b) { return u##name(a, b); }                                               \
    constexpr unsigned name(unsigned a, int b) { return u##name(a, b); }                                               \
    constexpr long name(long a, long b) { return ll##name(a, b); }                                                     \
    constexpr unsigned long name(unsigned long a, unsigned long b) { return ull##name(a, b); }                         \
    constexpr unsigned long name(long a, unsigned long b) { return ull##name(a, b); }                                  \
    constexpr unsigned long name(unsigned long a, long b) { return ull##name(a, b); }                                  \
    constexpr long long name(long long a, long long b) { return ll##name(a, b); }                                      \
    constexpr unsigned long long name(unsigned long long a, unsigned long long b) { return ull##name(a, b); }          \
    constexpr unsigned long long name(long long a, unsigned long long b) { return ull##name(a, b); }                   \
    constexpr unsigned long long name(unsigned long long a, long long b) { return ull##name(a, b); }                   \
    inline float name(float a, float b) { return f##name##f(a, b); }                                                   \
    inline double name(double a, double b) { return f##name(a, b); }                                                   \
    inline double name(float a, double b) { return f##name(a, b); }                                                    \
    inline double name(double a, float b) { return f##name(a, b); }
FOURWAYS_EXTREME(min, <)
FOURWAYS_EXTREME(max, >)

// Approximations on a GPU. noexcept, because the C library declares some of these names.
inline float __cosf(float x) noexcept { return cosf(x); }
inline float __exp10f(float x) noexcept { return exp10f(x); }
inline float __expf(float x) noexcept { return expf(x); }
inline float __log10f(float x) noexcept { return log10f(x); }
inline float __log2f(float x) noexcept { return log2f(x); }
inline float __logf(float x) noexcept { return logf(x); }
inline float __powf(float x, float y) noexcept { return powf(x, y); }
inline float __sinf(float x) noexcept { return sinf(x); }
inline float __tanf(float x) noexcept { return tanf(x); }
inline float __tanhf(float x) noexcept { return tanhf(x); }
inline void __sincosf(float x, float *sine, float *cosine) noexcept { sincosf(x, sine, cosine); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __frsqrt_rn(float x) { return 1 / sqrt(double(x)); }

inline float fdividef(float x, float y) { return x / y; }
inline double fdivide(double x, double y) { return x / y; }
inline float __saturatef(float x) { return x > 0 ? fminf(x, 1) : 0; } // NaN becomes 0

// Lengths of vectors; `dimension` is the number of elements.
inline double norm(int dimension, const double *x)
{
    double length = 0;
    for (int i = 0; i < dimension; ++i)
        length = hypot(length, x[i]);
    return length;
}
inline float normf(int dimension, const float *x)
{
    double squares = 0;
    for (int i = 0; i < dimension; ++i)
        squares += double(x[i]) * x[i];
    return sqrt(squares);
}
inline double norm3d(double a, double b, double c) { return hypot(hypot(a, b), c); }
inline double norm4d(double a, double b, double c, double d) { return hypot(hypot(a, b), hypot(c, d)); }
inline float norm3df(float a, float b, float c) { return norm3d(a, b, c); }
inline float norm4df(float a, float b, float c, float d) { return norm4d(a, b, c, d); }
inline double rhypot(double a, double b) { return 1 / hypot(a, b); }
inline double rnorm(int dimension, const double *x) { return 1 / norm(dimension, x); }
inline double rnorm3d(double a, double b, double c) { return 1 / norm3d(a, b, c); }
inline double rnorm4d(double a, double b, double c, double d) { return 1 / norm4d(a, b, c, d); }
inline float rhypotf(float a, float b) { return rhypot(double(a), double(b)); }
inline float rnormf(int dimension, const float *x) { return 1 / normf(dimension, x); }
inline float rnorm3df(float a, float b, float c) { return rnorm3d(a, b, c); }
inline float rnorm4df(float a, float b, float c, float d) { return rnorm4d(a, b, c, d); }

// The suffixes: _rn to nearest, _rz towards zero, _ru upwards, _rd downwards.
#define FOURWAYS_DIRECTION(name, suffix, direction, Result, Value, formula, parameters, ...)                           \
    inline Result name##suffix parameters                                                                              \
    {                                                                                                                  \
        return fourways::rounded<Result>(                                                                              \
            direction, [](Value x, [[maybe_unused]] Value y, [[maybe_unused]] Value z) -> Result { return formula; },  \
            __VA_ARGS__);                                                                                              \
    }
#define FOURWAYS_EACH_DIRECTION(name, ...)                                                                             \
    FOURWAYS_DIRECTION(name, _rn, FE_TONEAREST, __VA_ARGS__)                                                           \
    FOURWAYS_DIRECTION(name, _rz, FE_TOWARDZERO, __VA_ARGS__)                                                          \
    FOURWAYS_DIRECTION(name, _ru, FE_UPWARD, __VA_ARGS__)                                                              \
    FOURWAYS_DIRECTION(name, _rd, FE_DOWNWARD, __VA_ARGS__)
#define FOURWAYS_ARITHMETIC(letter, Value, root, multiply_add)                                                         \
    FOURWAYS_EACH_DIRECTION(__##letter##add, Value, Value, x + y, (Value x, Value y), x, y)                            \
    FOURWAYS_EACH_DIRECTION(__##letter##sub, Value, Value, x - y, (Value x, Value y), x, y)                            \
    FOURWAYS_EACH_DIRECTION(__##letter##mul, Value, Value, x * y, (Value x, Value y), x, y)                            \
    FOURWAYS_EACH_DIRECTION(__##letter##div, Value, Value, x / y, (Value x, Value y), x, y)                            \
    FOURWAYS_EACH_DIRECTION(__##letter##rcp, Value, Value, 1 / x, (Value x), x)                                        \
    FOURWAYS_EACH_DIRECTION(__##letter##sqrt, Value, Value, root(x), (Value x), x)                                     \
    FOURWAYS_EACH_DIRECTION(__##multiply_add, Value, Value, multiply_add(x, y, z), (Value x, Value y, Value z), x, y, z)
FOURWAYS_ARITHMETIC(f, float, sqrtf, fmaf)
FOURWAYS_ARITHMETIC(d, double, sqrt, fma)

#define FOURWAYS_TO_FLOAT(name, To, From) FOURWAYS_EACH_DIRECTION(name, To, From, To(x), (From x), x)
FOURWAYS_TO_FLOAT(__int2float, float, int)
FOURWAYS_TO_FLOAT(__uint2float, float, unsigned)
FOURWAYS_TO_FLOAT(__ll2float, float, long long)
FOURWAYS_TO_FLOAT(__ull2float, float, unsigned long long)
FOURWAYS_TO_FLOAT(__ll2double, double, long long)
FOURWAYS_TO_FLOAT(__ull2double, double, unsigned long long)
FOURWAYS_TO_FLOAT(__double2float, float, double)
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }

#define FOURWAYS_TO_INTEGER(name, To, From)                                                                            \
    inline To name##_rn(From x) { return fourways::to_integer<To>(rint(x)); }                                          \
    inline To name##_rz(From x) { return fourways::to_integer<To>(trunc(x)); }                                         \
    inline To name##_ru(From x) { return fourways::to_integer<To>(ceil(x)); }                                          \
    inline To name##_rd(From x) { return fourways::to_integer<To>(floor(x)); }
FOURWAYS_TO_INTEGER(__float2int, int, float)
FOURWAYS_TO_INTEGER(__float2uint, unsigned, float)
FOURWAYS_TO_INTEGER(__float2ll, long long, float)
FOURWAYS_TO_INTEGER(__float2ull, unsigned long long, float)
FOURWAYS_TO_INTEGER(__double2int, int, double)
FOURWAYS_TO_INTEGER(__double2uint, unsigned, double)
FOURWAYS_TO_INTEGER(__double2ll, long long, double)
FOURWAYS_TO_INTEGER(__double2ull, unsigned long long, double)

inline int __float_as_int(float x) { return fourways::as<int>(x); }
inline unsigned __float_as_uint(float x) { return fourways::as<unsigned>(x); }
inline float __int_as_float(int x) { return fourways::as<float>(x); }
inline float __uint_as_float(unsigned x) { return fourways::as<float>(x); }
inline long long __double_as_longlong(double x) { return fourways::as<long long>(x); }
inline double __longlong_as_double(long long x) { return fourways::as<double>(x); }
inline int __double2hiint(double x) { return fourways::as<long long>(x) >> 32; }
inline int __double2loint(double x) { return fourways::as<long long>(x); }
inline double __hiloint2double(int high, int low)
{
    return fourways::as<double>((unsigned long long)(unsigned)high << 32 | unsigned(low));
}
