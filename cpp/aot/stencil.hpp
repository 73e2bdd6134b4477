// What Python sees of stencil and stencil_steps: arguments checked, then launched by stencil.cu.
#pragma once

#include "device_array.hpp"
#include "launch.hpp"

namespace fourways {

inline void bind_stencil(py::module_ &m)
{
    static constexpr auto check_grids = [](const Call &call, const auto &u, const auto &v) {
        if (u.shape.size() != 2)
            throw u.argument.value_error("has shape " + text(u.shape) + "; wanted two dimensions, (height, width)");
        call.same_shape(u, v);
        call.no_overlap(u, v);
    };
    m.def(
        "stencil",
        [](py::handle u, py::handle v, py::handle stream) {
            Call call("stencil", stream);
            const auto in = call.array<const float>("u", u);
            const auto out = call.array<float>("v", v);
            check_grids(call, in, out);
            call.launch([&](cudaStream_t on) {
                return launch_stencil(in.data, out.data, in.extent(0), in.extent(1), on);
            });
        },
        "u"_a, "v"_a, "stream"_a = py::none(),
        R"(stencil(u, v, stream=None) -> None

One Jacobi step of the heat equation from u to v: each cell becomes the mean of its four neighbours, the cells of
the border keep their temperature. Returns as soon as the kernel is queued.

u       float32, (height, width), C-contiguous
v       float32, the shape of u, C-contiguous, writable, no memory shared with u
stream  as doublify takes it; help(fourways_aot.doublify) says which arrays and streams, and what is raised.

Fast where the width is a multiple of 4 and both arrays start at a multiple of 16 bytes; right everywhere.
)");
    m.def(
        "stencil_steps",
        [](py::object u, py::object v, long long steps, py::handle stream) {
            Call call("stencil_steps", stream);
            const auto first = call.array<float>("u", u);
            const auto second = call.array<float>("v", v);
            check_grids(call, first, second);
            if (steps < 0)
                throw Argument{"stencil_steps", "steps"}.value_error("is " + std::to_string(steps) +
                                                                     "; wanted 0 or more");
            call.launch([&](cudaStream_t on) {
                return launch_stencil_steps(first.data, second.data, first.extent(0), first.extent(1), steps, on);
            });
            return steps % 2 ? v : u;
        },
        "u"_a, "v"_a, "steps"_a, "stream"_a = py::none(),
        R"(stencil_steps(u, v, steps, stream=None) -> the array with the result: v if steps is odd, else u

`steps` times stencil, from u to v, from v to u, and so on: both arrays are written. The loop is C++ and runs without
the GIL. Returns as soon as the last kernel is queued, which blocks while CUDA's queue of launches is full.

u, v    float32, (height, width), one shape, C-contiguous, writable, no memory shared
steps   0 or more
stream  as doublify takes it; help(fourways_aot.doublify) says which arrays and streams, and what is raised.
)");
}

} // namespace fourways
