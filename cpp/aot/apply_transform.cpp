// What Python sees of apply_transform: arguments checked, then launched by apply_transform.cu.

#include "gpu_array.hpp"

namespace fourways {

cudaError_t launch_apply_transform(const float *x, float *y, long long n, cudaStream_t stream); // in apply_transform.cu

void apply_transform(py::object x, py::object y, py::object stream)
{
    const GpuArray<const float> in(__func__, "x", x);
    const GpuArray<float> out(__func__, "y", y);
    same_shape(in, out);
    no_overlap(in, out);
    launch(__func__, stream, {&in, &out}, [&](cudaStream_t on) {
        return launch_apply_transform(in.data, out.data, in.size, on);
    });
}

void bind_apply_transform(py::module_ &m)
{
    m.def("apply_transform", &apply_transform, "x"_a, "y"_a, "stream"_a = py::none(), R"(
y = f(f(... f(x))), element by element, with 64 calls of f(x) = 0.99f * x + 0.5f: the library's kernel with the
function that stands in for a user's. Returns as soon as the kernel is queued.
A build with -DCMAKE_CUDA_FLAGS=-DCALLS=8 makes 8 calls instead.

x       float32, any shape, C-contiguous
y       float32, the shape of x, C-contiguous, writable, no memory shared with x

stream, the kinds of arrays and the errors raised are those of doublify.
)");
}

} // namespace fourways
