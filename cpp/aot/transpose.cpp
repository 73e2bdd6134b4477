// What Python sees of transpose: arguments checked, then launched by transpose.cu.

#include "gpu_array.hpp"

namespace fourways {

// in transpose.cu
cudaError_t launch_transpose(const float *a, float *b, long long h, long long w, cudaStream_t stream);

void transpose(py::object a, py::object b, py::object stream)
{
    const GpuArray<const float> in(__func__, "a", a);
    const GpuArray<float> out(__func__, "b", b);
    has_dimensions(in, 2, "(h, w)");
    has_shape(out, {in.shape[1], in.shape[0]}, "the shape of a transposed");
    no_overlap(in, out);
    launch(__func__, stream, {&in, &out}, [&](cudaStream_t on) {
        return launch_transpose(in.data, out.data, in.shape[0], in.shape[1], on);
    });
}

void bind_transpose(py::module_ &m)
{
    m.def("transpose", &transpose, "a"_a, "b"_a, "stream"_a = py::none(), R"(
b = a.T, copied into place, on the GPU: b[x, y] = a[y, x]. Returns as soon as the kernel is queued.

a       float32, shape (h, w), C-contiguous
b       float32, shape (w, h), C-contiguous, writable, no memory shared with a

stream, the kinds of arrays and the errors raised are those of doublify.
)");
}

} // namespace fourways
