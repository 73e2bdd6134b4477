// The binding of a kernel that reads x and writes y, two float32 arrays of one shape.
#pragma once

#include "device_array.hpp"

namespace fourways {

using In = const DeviceArray<const float> &;
using Out = const DeviceArray<float> &;

// launch(In, Out, cudaStream_t) -> cudaError_t
template <class Launch> void bind_in_out(py::module_ &m, const char *name, Launch launch, const char *doc)
{
    m.def(
        name,
        [=](py::handle x, py::handle y, py::handle stream) {
            Call call(name, stream);
            const auto in = call.array<const float>("x", x);
            const auto out = call.array<float>("y", y);
            call.same_shape(in, out);
            call.no_overlap(in, out);
            call.launch([&](cudaStream_t on) { return launch(in, out, on); });
        },
        "x"_a, "y"_a, "stream"_a = py::none(), doc);
}

} // namespace fourways
