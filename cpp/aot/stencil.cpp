// What Python sees of stencil, stencil_steps: arguments checked, then launched by stencil.cu.

#include "gpu_array.hpp"

namespace fourways {

// in stencil.cu
cudaError_t launch_stencil(const float *u, float *v, long long h, long long w, cudaStream_t stream);
cudaError_t launch_stencil_steps(float *u, float *v, long long h, long long w, long long steps, cudaStream_t stream);

void stencil(py::object u, py::object v, py::object stream)
{
    const GpuArray<const float> in(__func__, "u", u);
    const GpuArray<float> out(__func__, "v", v);
    has_dimensions(in, 2, "(height, width)");
    same_shape(in, out);
    no_overlap(in, out);
    launch(__func__, stream, {&in, &out}, [&](cudaStream_t on) {
        return launch_stencil(in.data, out.data, in.shape[0], in.shape[1], on);
    });
}

py::object stencil_steps(py::object u, py::object v, long long steps, py::object stream)
{
    const GpuArray<float> first(__func__, "u", u), second(__func__, "v", v);
    has_dimensions(first, 2, "(height, width)");
    same_shape(first, second);
    no_overlap(first, second);
    if (steps < 0)
        throw Argument{__func__, "steps"}.value_error("is " + std::to_string(steps) + "; wanted 0 or more");
    launch(__func__, stream, {&first, &second}, [&](cudaStream_t on) {
        return launch_stencil_steps(first.data, second.data, first.shape[0], first.shape[1], steps, on);
    });
    return steps % 2 ? v : u;
}

void bind_stencil(py::module_ &m)
{
    m.def("stencil", &stencil, "u"_a, "v"_a, "stream"_a = py::none(), R"(
One Jacobi step of the heat equation from u to v: each cell becomes the mean of its four neighbours, the cells of
the border keep their temperature. Returns as soon as the kernel is queued.

u       float32, (height, width), C-contiguous
v       float32, the shape of u, C-contiguous, writable, no memory shared with u
stream  as doublify takes it; help(fourways_aot.doublify) says which arrays and streams, and what is raised.

Fast where the width is a multiple of 4 and both arrays start at a multiple of 16 bytes; right everywhere.
)");
    m.def("stencil_steps", &stencil_steps, "u"_a, "v"_a, "steps"_a.noconvert(), "stream"_a = py::none(), R"(
`steps` times stencil, from u to v, from v to u, and so on: both arrays are written. The loop is C++ and runs without
the GIL. Returns as soon as the last kernel is queued, which blocks while CUDA's queue of launches is full: the array
with the result, which is v if steps is odd, else u.

u, v    float32, (height, width), one shape, C-contiguous, writable, no memory shared
steps   0 or more
stream  as doublify takes it; help(fourways_aot.doublify) says which arrays and streams, and what is raised.
)");
}

} // namespace fourways
