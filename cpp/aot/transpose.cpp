// What Python sees of transpose: arguments checked, then launched by transpose.cu.

#include "device_array.hpp"

namespace fourways {

// in transpose.cu
cudaError_t launch_transpose(const float *a, float *b, long long h, long long w, cudaStream_t stream);

void bind_transpose(py::module_ &m)
{
    def(
        m, "transpose", {"a", "b"},
        [](Call &call) {
            const auto in = call.array<const float>("a");
            const auto out = call.array<float>("b");
            if (in.shape.size() != 2)
                throw in.argument.value_error("has shape " + text(in.shape) + "; wanted two dimensions");
            const Shape transposed{in.shape[1], in.shape[0]};
            if (out.shape != transposed)
                throw out.argument.value_error("has shape " + text(out.shape) + "; wanted " + text(transposed) +
                                               ", the shape of a transposed");
            call.no_overlap(in, out);
            call.launch([&](cudaStream_t on) {
                return launch_transpose(in.data, out.data, in.shape[0], in.shape[1], on);
            });
        },
        R"(transpose(a, b, stream=None) -> None

b = a.T, copied into place, on the GPU: b[x, y] = a[y, x]. Returns as soon as the kernel is queued.

a       float32, shape (h, w), C-contiguous
b       float32, shape (w, h), C-contiguous, writable, no memory shared with a

stream, the kinds of arrays and the errors raised are those of doublify.
)");
}

} // namespace fourways
