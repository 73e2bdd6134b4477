// What Python sees of colmeans: arguments checked, then launched by colmeans.cu.

#include "gpu_array.hpp"

namespace fourways {

// in colmeans.cu
cudaError_t launch_colmeans(const float *x, float *means, long long batch, long long rows, long long columns,
                            cudaStream_t stream);

void colmeans(py::object x, py::object means, py::object stream)
{
    const GpuArray<const float> in(__func__, "x", x);
    const GpuArray<float> out(__func__, "means", means);
    has_dimensions(in, 3, "(batch, rows, columns)");
    has_shape(out, {in.shape[0], in.shape[2]}, "a mean for each column of each matrix of x");
    no_overlap(in, out);
    launch(__func__, stream, {&in, &out}, [&](cudaStream_t on) {
        return launch_colmeans(in.data, out.data, in.shape[0], in.shape[1], in.shape[2], on);
    });
}

void bind_colmeans(py::module_ &m)
{
    m.def("colmeans", &colmeans, "x"_a, "means"_a, "stream"_a = py::none(), R"(
means[b, c] = the mean of x[b, :, c]: of every column of every matrix, on the GPU. Adds in float32.
Returns as soon as the kernel is queued. The means of matrices without rows are NaN.

x       float32, shape (batch, rows, columns), C-contiguous
means   float32, shape (batch, columns), C-contiguous, writable, no memory shared with x

stream, the kinds of arrays and the errors raised are those of doublify.
)");
}

} // namespace fourways
