// What Python sees of saxpy: arguments checked, then launched by saxpy.cu.
#pragma once

#include "device_array.hpp"
#include "launch.hpp"

#include <cmath>

namespace fourways {

inline void bind_saxpy(py::module_ &m)
{
    m.def(
        "saxpy",
        [](py::handle a, py::handle x, py::handle y, py::handle z, py::handle stream) {
            Call call("saxpy", stream);
            const Argument number{"saxpy", "a"};
            const double value = PyFloat_AsDouble(a.ptr());
            if (value == -1 && PyErr_ExceptionMatches(PyExc_TypeError))
                throw number.type_error("is a " + type_name(a) + "; wanted a number");
            if (PyErr_Occurred())
                throw py::error_already_set();
            const auto factor = static_cast<float>(value);
            if (std::isinf(factor) && !std::isinf(value))
                throw number.value_error("is " + text(a) + "; wanted a number within float32's range");
            const auto in = call.array<const float>("x", x), added = call.array<const float>("y", y);
            const auto out = call.array<float>("z", z);
            call.same_shape(in, added);
            call.same_shape(in, out);
            call.no_overlap(in, out);
            call.no_overlap(added, out);
            call.launch([&](cudaStream_t on) {
                return launch_saxpy(factor, in.data, added.data, out.data, in.size, on);
            });
        },
        "a"_a, "x"_a, "y"_a, "z"_a, "stream"_a = py::none(),
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
