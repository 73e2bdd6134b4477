// What Python sees of colmeans: arguments checked, then launched by colmeans.cu.

#include "device_array.hpp"

namespace fourways {

// in colmeans.cu
cudaError_t launch_colmeans(const float *x, float *means, long long batch, long long rows, long long columns,
                            cudaStream_t stream);

void bind_colmeans(py::module_ &m)
{
    def(
        m, "colmeans", {"x", "means"},
        [](Call &call) {
            const auto in = call.array<const float>("x");
            const auto out = call.array<float>("means");
            if (in.shape.size() != 3)
                throw in.argument.value_error("has shape " + text(in.shape) +
                                              "; wanted three dimensions, (batch, rows, columns)");
            const Shape wanted{in.shape[0], in.shape[2]};
            if (out.shape != wanted)
                throw out.argument.value_error("has shape " + text(out.shape) + "; wanted " + text(wanted) +
                                               ", a mean for each column of each matrix of x");
            call.no_overlap(in, out);
            call.launch([&](cudaStream_t on) {
                return launch_colmeans(in.data, out.data, in.shape[0], in.shape[1], in.shape[2], on);
            });
        },
        R"(colmeans(x, means, stream=None) -> None

means[b, c] = the mean of x[b, :, c]: of every column of every matrix, on the GPU. Adds in float32.
Returns as soon as the kernel is queued. The means of matrices without rows are NaN.

x       float32, shape (batch, rows, columns), C-contiguous
means   float32, shape (batch, columns), C-contiguous, writable, no memory shared with x

stream, the kinds of arrays and the errors raised are those of doublify.
)");
}

} // namespace fourways
