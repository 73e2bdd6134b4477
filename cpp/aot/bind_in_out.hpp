// The binding of a kernel that reads x and writes y, two float32 arrays of one shape.
#pragma once

#include "device_array.hpp"

namespace fourways {

using In = const DeviceArray<const float> &;
using Out = const DeviceArray<float> &;

// launch(In, Out, cudaStream_t) -> cudaError_t
template <class Launch> void bind_in_out(py::module_ &m, const char *name, Launch launch, const char *doc)
{
    def(
        m, name, {"x", "y"},
        [launch](Call &call) {
            const auto in = call.array<const float>("x");
            const auto out = call.array<float>("y");
            call.same_shape(in, out);
            call.no_overlap(in, out);
            call.launch([&](cudaStream_t on) { return launch(in, out, on); });
        },
        doc);
}

} // namespace fourways
