#ifndef __GLIBC_USE_IEC_60559_FUNCS_EXT_C23
#define __GLIBC_USE_IEC_60559_FUNCS_EXT_C23 1
#endif
#if __GLIBC_USE (IEC_60559_FUNCS_EXT_C23) && !defined DECLARED
#define DECLARED
extern double rsqrt(double) noexcept(true);
#endif
#include_next <bits/mathcalls.h>
