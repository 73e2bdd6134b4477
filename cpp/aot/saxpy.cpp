// What Python sees of saxpy: arguments checked, then launched by saxpy.cu.

#include "gpu_array.hpp"

namespace fourways {

// in saxpy.cu
cudaError_t launch_saxpy(float a, const float *x, const float *y, float *z, long long n, cudaStream_t stream);

void saxpy(double a, py::object x, py::object y, py::object z, py::object stream)
{
    const auto factor = as_float(__func__, "a", a);
    const GpuArray<const float> first(__func__, "x", x), second(__func__, "y", y);
    const GpuArray<float> out(__func__, "z", z);
    same_shape(first, second);
    same_shape(first, out);
    no_overlap(first, out);
    no_overlap(second, out);
    launch(__func__, stream, {&first, &second, &out}, [&](cudaStream_t on) {
        return launch_saxpy(factor, first.data, second.data, out.data, out.size, on);
    });
}

void bind_saxpy(py::module_ &m)
{
    m.def("saxpy", &saxpy, "a"_a, "x"_a, "y"_a, "z"_a, "stream"_a = py::none(), R"(
z = a * x + y, element by element, on the GPU, with one rounding. Returns as soon as the kernel is queued.
Quickest where x, y and z start at multiples of 16 bytes, right everywhere.

a       a number, rounded to float32; NumPy takes the real part of its complex ones, and warns
x, y    float32, any shape, C-contiguous; both may be the same array
z       float32, the shape of x, C-contiguous, writable, no memory shared with x or y
stream  as of doublify, and so are the arrays that are taken and what is raised
)");
}

} // namespace fourways
