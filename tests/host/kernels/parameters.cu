#include <cuda/std/complex>
#include <cuda/std/cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define all 1
#define size 2
using real = float;
struct Range { float low; double high; int parts[3]; };
struct Unknown;
union Either { int i; float f; };
enum Mode { on, off };
enum class Small : unsigned char { one };
namespace { struct Inner { short s; }; }
namespace ours { template <class Value, int count> struct Many { Value values[count]; }; }
extern "C" __global__ void none() {}
extern "C" __global__ void arrays(const real *__restrict__ x, double *const y, const volatile int *v, void *raw,
    const void *raw_too, const float4 *quads, double2 *pairs, uchar3 *rgb, const __half *h, __nv_bfloat16 *b,
    Range *ranges, const Unknown *handle, const cuda::std::complex<float> *z, const float *const *pp,
    const float (*rows)[4], float (*function)(int), Mode *modes, ours::Many<cuda::std::complex<double>, 2> *many,
    Inner *inner) {}
extern "C" __global__ void values(bool fast, char c, signed char s, const unsigned char u, wchar_t w, char16_t c16,
    cuda::std::int8_t i8, cuda::std::uint16_t u16, cuda::std::int32_t i32, cuda::std::uint32_t u32, long l,
    unsigned long long ull, cuda::std::size_t count, real r, double d, __half h, __nv_bfloat16 b, float2 pair,
    float4 quad, cuda::std::complex<double> z, Range range, Either either, Mode mode, Small small, dim3 extent,
    ours::Many<float, 3> many, int) {}
