// nvcc 13.0 on glibc 2.42 and newer. This glibc declares rsqrt(double) with noexcept, CUDA's crt/math_functions.h
// declares it without, and nvcc refuses the pair. <math.h> includes this file in place of glibc's own, which then
// leaves out the functions that C23 added (rsqrt among them).
#pragma push_macro("__GLIBC_USE_IEC_60559_FUNCS_EXT_C23")
#undef __GLIBC_USE_IEC_60559_FUNCS_EXT_C23
#define __GLIBC_USE_IEC_60559_FUNCS_EXT_C23 0
#include_next <bits/mathcalls.h>
#pragma pop_macro("__GLIBC_USE_IEC_60559_FUNCS_EXT_C23")
