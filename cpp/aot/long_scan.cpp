// What Python sees of long_scan: arguments checked, then launched by long_scan.cu.

#include "bind_in_out.hpp"

namespace fourways {

// in long_scan.cu
cudaError_t launch_long_scan(const float *x, float *y, long long n, cudaStream_t stream);

void bind_long_scan(py::module_ &m)
{
    const auto launch = [](In x, Out y, cudaStream_t on) { return launch_long_scan(x.data, y.data, x.size, on); };
    bind_in_out(m, "long_scan", launch, R"(long_scan(x, y, stream=None) -> None

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
