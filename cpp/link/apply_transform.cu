// A library's kernel that calls a function it has not seen: y[i] = f(f(...f(x[i]))), 64 calls of the user's function.
//
// The library ships this file compiled, as PTX or LTO-IR; the user's function arrives later and a linker joins the two.
// Compiled and linked by `fourways link`, in five builds; not part of the pybind11 module.
//
// CALLS   calls per element, default 64

#ifndef CALLS
#define CALLS 64
#endif

extern "C" __device__ float user_transform(float x);

extern "C" __global__ void apply_transform(const float* __restrict__ x, float* __restrict__ y, long long n)
{
    const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
        float value = x[i];
        for (int call = 0; call < CALLS; ++call)
            value = user_transform(value);
        y[i] = value;
    }
}
