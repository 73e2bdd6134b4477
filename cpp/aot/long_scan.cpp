// What Python sees of long_scan: arguments checked, then launched by long_scan.cu.

#include "gpu_array.hpp"

namespace fourways {

cudaError_t launch_long_scan(const float *x, float *y, long long n, cudaStream_t stream); // in long_scan.cu

void long_scan(py::object x, py::object y, py::object stream)
{
    const GpuArray<const float> in(__func__, "x", x);
    const GpuArray<float> out(__func__, "y", y);
    same_shape(in, out);
    no_overlap(in, out);
    launch(__func__, stream, {&in, &out}, [&](cudaStream_t on) {
        return launch_long_scan(in.data, out.data, in.size, on);
    });
}

void bind_long_scan(py::module_ &m)
{
    m.def("long_scan", &long_scan, "x"_a, "y"_a, "stream"_a = py::none(), R"(
The prefix sums of all elements of x in C order, as numpy.cumsum(x) gives them, by the kernel of
cpp/kernels/long_scan.cuh: as many blocks as the GPU runs at once share one scan. Returns as soon as
the work is queued. Adds in float32. On one GPU the result is the same in every run.

x       float32, any shape, C-contiguous
y       float32, the shape of x, C-contiguous, writable, no memory shared with x

Temporary storage, a thousandth of x, is allocated and freed in the order of the stream.
stream, the kinds of arrays and the errors raised are those of doublify.
)");
}

} // namespace fourways
