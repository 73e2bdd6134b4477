// Half precision on the CPU: CUDA's own header, and what that has for GPUs only. Each result is rounded once.
#pragma once

#include_next <cuda_fp16.h>

#define FOURWAYS_HALF(name, function)                                                                                  \
    inline __half h##name(__half x) { return __float2half(function(__half2float(x))); }                                \
    inline __half2 h2##name(__half2 x) { return {h##name(x.x), h##name(x.y)}; }
FOURWAYS_HALF(ceil, ceilf)
FOURWAYS_HALF(cos, cosf)
FOURWAYS_HALF(exp, expf)
FOURWAYS_HALF(exp2, exp2f)
FOURWAYS_HALF(exp10, exp10f)
FOURWAYS_HALF(floor, floorf)
FOURWAYS_HALF(log, logf)
FOURWAYS_HALF(log2, log2f)
FOURWAYS_HALF(log10, log10f)
FOURWAYS_HALF(rcp, __frcp_rn)
FOURWAYS_HALF(rint, rintf)
FOURWAYS_HALF(rsqrt, __frsqrt_rn)
FOURWAYS_HALF(sin, sinf)
FOURWAYS_HALF(sqrt, sqrtf)
FOURWAYS_HALF(tanh, tanhf)
FOURWAYS_HALF(trunc, truncf)

// In double precision the product is exact and the sum all but exact.
inline __half __hfma(__half x, __half y, __half z)
{
    return __double2half(double(__half2float(x)) * __half2float(y) + __half2float(z));
}
inline __half __hfma_sat(__half x, __half y, __half z)
{
    return __float2half(__saturatef(__half2float(__hfma(x, y, z))));
}
inline __half __hfma_relu(__half x, __half y, __half z) { return __hmax_nan(__hfma(x, y, z), __float2half(0)); }
inline __half2 __hfma2(__half2 x, __half2 y, __half2 z) { return {__hfma(x.x, y.x, z.x), __hfma(x.y, y.y, z.y)}; }
inline __half2 __hfma2_sat(__half2 x, __half2 y, __half2 z)
{
    return {__hfma_sat(x.x, y.x, z.x), __hfma_sat(x.y, y.y, z.y)};
}
inline __half2 __hfma2_relu(__half2 x, __half2 y, __half2 z)
{
    return {__hfma_relu(x.x, y.x, z.x), __hfma_relu(x.y, y.y, z.y)};
}
inline __half2 __hcmadd(__half2 x, __half2 y, __half2 z) // of complex numbers
{
    const __half real = __hfma(x.x, y.x, z.x), imaginary = __hfma(x.x, y.y, z.y);
    return {__hfma(__hneg(x.y), y.y, real), __hfma(x.y, y.x, imaginary)};
}
