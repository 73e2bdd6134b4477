// What Python sees of saxpy: arguments checked, then launched by saxpy.cu.

#include "device_array.hpp"

namespace fourways {

// in saxpy.cu
cudaError_t launch_saxpy(float a, const float *x, const float *y, float *z, long long n, cudaStream_t stream);

void bind_saxpy(py::module_ &m)
{
    def(
        m, "saxpy", {"a", "x", "y", "z"},
        [](Call &call) {
            const float a = call.scalar<float>("a");
            const auto x = call.array<const float>("x"), y = call.array<const float>("y");
            const auto z = call.array<float>("z");
            call.same_shape(x, y);
            call.same_shape(x, z);
            call.no_overlap(x, z);
            call.no_overlap(y, z);
            call.launch([&](cudaStream_t on) { return launch_saxpy(a, x.data, y.data, z.data, x.size, on); });
        },
        R"(saxpy(a, x, y, z, stream=None) -> None

z = a * x + y, element by element, on the GPU, with one rounding. Returns as soon as the kernel is queued.
Quickest where x, y and z start at multiples of 16 bytes, right everywhere.

a       a number, rounded to float32
x, y    float32, any shape, C-contiguous; both may be the same array
z       float32, the shape of x, C-contiguous, writable, no memory shared with x or y
stream  as of doublify, and so are the arrays that are taken and what is raised
)");
}

} // namespace fourways
