// What Python sees of transpose: arguments checked, then launched by transpose.cu.
#pragma once

#include "device_array.hpp"
#include "launch.hpp"

namespace fourways {

inline void bind_transpose(py::module_ &m)
{
    m.def(
        "transpose",
        [](py::handle a, py::handle b, py::handle stream) {
            Call call("transpose", stream);
            const auto in = call.array<const float>("a", a);
            const auto out = call.array<float>("b", b);
            if (in.shape.size() != 2)
                throw in.argument.value_error("has shape " + text(in.shape) + "; wanted two dimensions");
            const auto transposed = py::make_tuple(in.shape[1], in.shape[0]);
            if (!out.shape.equal(transposed))
                throw out.argument.value_error("has shape " + text(out.shape) + "; wanted " + text(transposed) +
                                               ", the shape of a transposed");
            call.no_overlap(in, out);
            call.launch([&](cudaStream_t on) {
                return launch_transpose(in.data, out.data, in.extent(0), in.extent(1), on);
            });
        },
        "a"_a, "b"_a, "stream"_a = py::none(),
        R"(transpose(a, b, stream=None) -> None

b = a.T, copied into place, on the GPU: b[x, y] = a[y, x]. Returns as soon as the kernel is queued.

a       float32, shape (h, w), C-contiguous
b       float32, shape (w, h), C-contiguous, writable, no memory shared with a

stream, the kinds of arrays and the errors raised are those of doublify.
)");
}

} // namespace fourways
