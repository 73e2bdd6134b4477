// What Python sees of stencil and stencil_steps: arguments checked, then launched by stencil.cu.

#include "device_array.hpp"

namespace fourways {

// in stencil.cu
cudaError_t launch_stencil(const float *u, float *v, long long h, long long w, cudaStream_t stream);
cudaError_t launch_stencil_steps(float *u, float *v, long long h, long long w, long long steps, cudaStream_t stream);

void bind_stencil(py::module_ &m)
{
    static constexpr auto check_grids = [](const Call &call, const Array &u, const Array &v) {
        if (u.shape.size() != 2)
            throw u.argument.value_error("has shape " + text(u.shape) + "; wanted two dimensions, (height, width)");
        call.same_shape(u, v);
        call.no_overlap(u, v);
    };
    def(
        m, "stencil", {"u", "v"},
        [](Call &call) {
            const auto in = call.array<const float>("u");
            const auto out = call.array<float>("v");
            check_grids(call, in, out);
            call.launch([&](cudaStream_t on) {
                return launch_stencil(in.data, out.data, in.shape[0], in.shape[1], on);
            });
        },
        R"(stencil(u, v, stream=None) -> None

One Jacobi step of the heat equation from u to v: each cell becomes the mean of its four neighbours, the cells of
the border keep their temperature. Returns as soon as the kernel is queued.

u       float32, (height, width), C-contiguous
v       float32, the shape of u, C-contiguous, writable, no memory shared with u
stream  as doublify takes it; help(fourways_aot.doublify) says which arrays and streams, and what is raised.

Fast where the width is a multiple of 4 and both arrays start at a multiple of 16 bytes; right everywhere.
)");
    def(
        m, "stencil_steps", {"u", "v", "steps"},
        [](Call &call) {
            const long long steps = call.scalar<long long>("steps");
            const auto first = call.array<float>("u"), second = call.array<float>("v");
            check_grids(call, first, second);
            if (steps < 0)
                throw Argument{"stencil_steps", "steps"}.value_error("is " + std::to_string(steps) +
                                                                     "; wanted 0 or more");
            call.launch([&](cudaStream_t on) {
                return launch_stencil_steps(first.data, second.data, first.shape[0], first.shape[1], steps, on);
            });
            call.returns(steps % 2 ? "v" : "u");
        },
        R"(stencil_steps(u, v, steps, stream=None) -> the array with the result: v if steps is odd, else u

`steps` times stencil, from u to v, from v to u, and so on: both arrays are written. The loop is C++ and runs without
the GIL. Returns as soon as the last kernel is queued, which blocks while CUDA's queue of launches is full.

u, v    float32, (height, width), one shape, C-contiguous, writable, no memory shared
steps   0 or more
stream  as doublify takes it; help(fourways_aot.doublify) says which arrays and streams, and what is raised.
)");
}

} // namespace fourways
