// What Python sees of colmeans: arguments checked, then launched by colmeans.cu.
#pragma once

#include "device_array.hpp"
#include "launch.hpp"

namespace fourways {

inline void bind_colmeans(py::module_ &m)
{
    m.def(
        "colmeans",
        [](py::handle x, py::handle means, py::handle stream) {
            Call call("colmeans", stream);
            const auto in = call.array<const float>("x", x);
            const auto out = call.array<float>("means", means);
            if (in.shape.size() != 3)
                throw in.argument.value_error("has shape " + text(in.shape) +
                                              "; wanted three dimensions, (batch, rows, columns)");
            const auto wanted = py::make_tuple(in.shape[0], in.shape[2]);
            if (!out.shape.equal(wanted))
                throw out.argument.value_error("has shape " + text(out.shape) + "; wanted " + text(wanted) +
                                               ", a mean for each column of each matrix of x");
            call.no_overlap(in, out);
            call.launch([&](cudaStream_t on) {
                return launch_colmeans(in.data, out.data, in.extent(0), in.extent(1), in.extent(2), on);
            });
        },
        "x"_a, "means"_a, "stream"_a = py::none(),
        R"(colmeans(x, means, stream=None) -> None

means[b, c] = the mean of x[b, :, c]: of every column of every matrix, on the GPU. Adds in float32.
Returns as soon as the kernel is queued. The means of matrices without rows are NaN.

x       float32, shape (batch, rows, columns), C-contiguous
means   float32, shape (batch, columns), C-contiguous, writable, no memory shared with x

stream, the kinds of arrays and the errors raised are those of doublify.
)");
}

} // namespace fourways
