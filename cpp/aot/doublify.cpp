// What Python sees of doublify: arguments checked, then launched by doublify.cu.

#include "gpu_array.hpp"

namespace fourways {

cudaError_t launch_doublify(const float *x, float *y, long long n, cudaStream_t stream); // in doublify.cu

void doublify(py::object x, py::object y, py::object stream)
{
    const GpuArray<const float> in(__func__, "x", x); // const: an input
    const GpuArray<float> out(__func__, "y", y);      // no const: an output, which must be writable
    same_shape(in, out);
    no_overlap(in, out);
    launch(__func__, stream, {&in, &out}, [&](cudaStream_t on) {
        return launch_doublify(in.data, out.data, in.size, on);
    });
}

void bind_doublify(py::module_ &m)
{
    m.def("doublify", &doublify, "x"_a, "y"_a, "stream"_a = py::none(), R"(
y = 2 * x, element by element, on the GPU. Returns as soon as the kernel is queued.
A build with -DCMAKE_CUDA_FLAGS=-DFACTOR=3 multiplies by 3 instead.

x       float32, any shape, C-contiguous
y       float32, the shape of x, C-contiguous, writable, no memory shared with x
stream  None: CuPy's current stream if one of the arrays is CuPy's, else the current stream of PyTorch or of another
        library with DLPack's C functions, else the legacy default stream. Or a pointer as int, or a stream of CuPy,
        PyCUDA, PyTorch, Numba or cuda.core.

x and y are arrays of CuPy, PyTorch, Numba, PyCUDA or any library with __cuda_array_interface__ or DLPack, on the
current GPU. Nothing is copied. The kernel waits for the stream that an array's __cuda_array_interface__ names, and
for the current stream of a library with DLPack's C functions (PyTorch 2.11 has them); for another DLPack array it
waits for the legacy default stream. CuPy arrays are taken as by CuPy's own kernels: where their data come from
another stream than `stream`, order the two yourself.

Raises TypeError (not a GPU array, wrong dtype, host memory), ValueError (shape, layout, read-only, overlap,
another GPU, a tensor that requires a gradient), RuntimeError (what CUDA reports, as no driver). Nothing is
launched on a bad argument.
)");
}

} // namespace fourways
