// What Python sees of reduce, device_reduce: arguments checked, then launched by reduce.cu.

#include "gpu_array.hpp"

namespace fourways {

// in reduce.cu
cudaError_t launch_reduce(const float *x, float *total, long long n, cudaStream_t stream);
cudaError_t launch_device_reduce(const float *x, float *total, long long n, cudaStream_t stream);

void reduce(py::object x, py::object total, py::object stream)
{
    const GpuArray<const float> in(__func__, "x", x);
    const GpuArray<float> out(__func__, "total", total);
    if (out.size != 1)
        throw out.argument.value_error("has shape " + text(out.shape) + "; wanted one element, as (1,)");
    no_overlap(in, out);
    launch(__func__, stream, {&in, &out}, [&](cudaStream_t on) {
        return launch_reduce(in.data, out.data, in.size, on);
    });
}

void device_reduce(py::object x, py::object total, py::object stream)
{
    const GpuArray<const float> in(__func__, "x", x);
    const GpuArray<float> out(__func__, "total", total);
    if (out.size != 1)
        throw out.argument.value_error("has shape " + text(out.shape) + "; wanted one element, as (1,)");
    no_overlap(in, out);
    launch(__func__, stream, {&in, &out}, [&](cudaStream_t on) {
        return launch_device_reduce(in.data, out.data, in.size, on);
    });
}

void bind_reduce(py::module_ &m)
{
    m.def("reduce", &reduce, "x"_a, "total"_a, "stream"_a = py::none(), R"(
total[0] = the sum of x, by the kernel of cpp/kernels/reduce.cuh. Returns as soon as the work is queued.
Adds in float32. The blocks add to total in the order in which they end, so that the last bits of a sum that
is not exact may differ from run to run. device_reduce always gives the same.

x       float32, any shape, C-contiguous; 0 is the sum of no elements
total   float32, one element, writable, not in the memory of x. What it held does not matter

stream, the kinds of arrays and the errors raised are those of doublify.
)");
    m.def("device_reduce", &device_reduce, "x"_a, "total"_a, "stream"_a = py::none(), R"(
total[0] = the sum of x, by cub::DeviceReduce. Returns as soon as the work is queued.
Adds in float32. On one GPU the result is the same in every run.

x       float32, any shape, C-contiguous; 0 is the sum of no elements
total   float32, one element, writable, not in the memory of x. What it held does not matter

CUB's temporary storage is allocated and freed in the order of the stream (cudaMallocAsync, cudaFreeAsync).
stream, the kinds of arrays and the errors raised are those of doublify.
)");
}

} // namespace fourways
