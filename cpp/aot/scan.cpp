// What Python sees of scan, device_scan: arguments checked, then launched by scan.cu.

#include "gpu_array.hpp"

namespace fourways {

// in scan.cu
cudaError_t launch_scan(const float *x, float *y, long long rows, long long columns, cudaStream_t stream);
cudaError_t launch_device_scan(const float *x, float *y, long long n, cudaStream_t stream);

void scan(py::object x, py::object y, py::object stream)
{
    const GpuArray<const float> in(__func__, "x", x);
    const GpuArray<float> out(__func__, "y", y);
    same_shape(in, out);
    no_overlap(in, out);
    const long long columns = in.shape.empty() ? 1 : in.shape.back();
    const long long rows = columns ? in.size / columns : 0;
    launch(__func__, stream, {&in, &out}, [&](cudaStream_t on) {
        return launch_scan(in.data, out.data, rows, columns, on);
    });
}

void device_scan(py::object x, py::object y, py::object stream)
{
    const GpuArray<const float> in(__func__, "x", x);
    const GpuArray<float> out(__func__, "y", y);
    same_shape(in, out);
    no_overlap(in, out);
    launch(__func__, stream, {&in, &out}, [&](cudaStream_t on) {
        return launch_device_scan(in.data, out.data, in.size, on);
    });
}

void bind_scan(py::module_ &m)
{
    m.def("scan", &scan, "x"_a, "y"_a, "stream"_a = py::none(), R"(
y[..., c] = x[..., 0] + ... + x[..., c]: the prefix sums along the last axis, by the kernel of
cpp/kernels/scan.cuh, which gives each row to one block. Returns as soon as the kernel is queued.
Adds in float32. For few long rows take device_scan, row by row.

x       float32, any shape, C-contiguous
y       float32, the shape of x, C-contiguous, writable, no memory shared with x

stream, the kinds of arrays and the errors raised are those of doublify.
)");
    m.def("device_scan", &device_scan, "x"_a, "y"_a, "stream"_a = py::none(), R"(
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
