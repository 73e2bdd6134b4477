// What Python sees of scan and device_scan: arguments checked, then launched by scan.cu.

#include "bind_in_out.hpp"

namespace fourways {

// in scan.cu
cudaError_t launch_scan(const float *x, float *y, long long rows, long long columns, cudaStream_t stream);
cudaError_t launch_device_scan(const float *x, float *y, long long n, cudaStream_t stream);

void bind_scan(py::module_ &m)
{
    const auto rows = [](In x, Out y, cudaStream_t on) {
        const long long columns = x.shape.empty() ? 1 : x.shape.back();
        return launch_scan(x.data, y.data, columns ? x.size / columns : 0, columns, on);
    };
    const auto whole = [](In x, Out y, cudaStream_t on) { return launch_device_scan(x.data, y.data, x.size, on); };
    bind_in_out(m, "scan", rows, R"(scan(x, y, stream=None) -> None

y[..., c] = x[..., 0] + ... + x[..., c]: the prefix sums along the last axis, by the kernel of
cpp/kernels/scan.cuh, which gives each row to one block. Returns as soon as the kernel is queued.
Adds in float32. For few long rows take device_scan, row by row.

x       float32, any shape, C-contiguous
y       float32, the shape of x, C-contiguous, writable, no memory shared with x

stream, the kinds of arrays and the errors raised are those of doublify.
)");
    bind_in_out(m, "device_scan", whole, R"(device_scan(x, y, stream=None) -> None

The prefix sums of all elements of x in C order, as numpy.cumsum(x) gives them, by cub::DeviceScan: all blocks work
on one scan. Returns as soon as the work is queued. Adds in float32, grouped anew in every run, so that
the last bits of sums that are not exact may differ from run to run.

x       float32, any shape, C-contiguous
y       float32, the shape of x, C-contiguous, writable, no memory shared with x

CUB's temporary storage is allocated and freed in the order of the stream (cudaMallocAsync, cudaFreeAsync).
stream, the kinds of arrays and the errors raised are those of doublify.
)");
}

} // namespace fourways
