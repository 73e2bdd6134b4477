// What Python sees of fir: arguments checked, then launched by fir.cu.

#include "gpu_array.hpp"

#include <climits>

namespace fourways {

// in fir.cu
cudaError_t launch_fir(const float *x, const float *taps, int length, float *y, long long n, cudaStream_t stream);

void fir(py::object x, py::object taps, py::object y, py::object stream)
{
    const GpuArray<const float> in(__func__, "x", x), weights(__func__, "taps", taps);
    const GpuArray<float> out(__func__, "y", y);
    has_dimensions(in, 1, "(n,)");
    has_dimensions(weights, 1, "(n,)");
    has_dimensions(out, 1, "(n,)");
    if (weights.size < 1 || weights.size > INT_MAX)
        throw weights.argument.value_error("has " + std::to_string(weights.size) + " elements; wanted 1 to 2147483647");
    has_shape(in, {out.size + weights.size - 1}, "the elements of y and of taps together, less 1");
    no_overlap(in, out);
    no_overlap(weights, out);
    launch(__func__, stream, {&in, &weights, &out}, [&](cudaStream_t on) {
        return launch_fir(in.data, weights.data, static_cast<int>(weights.size), out.data, out.size, on);
    });
}

void bind_fir(py::module_ &m)
{
    m.def("fir", &fir, "x"_a, "taps"_a, "y"_a, "stream"_a = py::none(), R"(
y[i] = taps[0] * x[i] + taps[1] * x[i + 1] + ..., summed in float32, on the GPU. Returns as soon as the kernel is
queued. Compiled for 8, 16 and 32 taps in particular, and for any other number in a loop. With these three it is
quickest where x and y start at multiples of 16 bytes; it is right everywhere.

x       float32, one dimension, C-contiguous, len(y) + len(taps) - 1 elements
taps    float32, one dimension, C-contiguous, 1 element or more
y       float32, one dimension, C-contiguous, writable, no memory shared with x or taps
stream  as of doublify, and so are the arrays that are taken and what is raised
)");
}

} // namespace fourways
