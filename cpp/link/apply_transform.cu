// A library's kernel that calls a function it has not seen: y[i] = f(f(...f(x[i]))), 64 calls of the user's function.
//
// The library ships this file compiled, as PTX or LTO-IR; the user's function arrives later and a linker joins the two.
// Compiled and linked by `fourways link`, in five builds; not part of the pybind11 module.

#define PLUGIN // leaves user_transform out of the kernel's file
#include "../kernels/apply_transform.cuh"
