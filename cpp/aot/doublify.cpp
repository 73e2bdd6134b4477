// What Python sees of doublify: arguments checked, then launched by doublify.cu.

#include "device_array.hpp"

namespace fourways {

// in doublify.cu
cudaError_t launch_doublify(const float *x, float *y, long long n, cudaStream_t stream);

void bind_doublify(py::module_ &m)
{
    def(
        m, "doublify", {"x", "y"},
        [](Call &call) {
            const auto in = call.array<const float>("x");
            const auto out = call.array<float>("y");
            call.same_shape(in, out);
            call.no_overlap(in, out);
            call.launch([&](cudaStream_t on) { return launch_doublify(in.data, out.data, in.size, on); });
        },
        R"(doublify(x, y, stream=None) -> None

y = 2 * x, element by element, on the GPU. Returns as soon as the kernel is queued.
A build with -DCMAKE_CUDA_FLAGS=-DFACTOR=3 multiplies by 3 instead.

x       float32, any shape, C-contiguous
y       float32, the shape of x, C-contiguous, writable, no memory shared with x
stream  None: the current stream of the arrays' own library: CuPy's if one of them is CuPy's, else that of PyTorch
        or of another library with DLPack's C functions. With arrays of neither kind, CuPy's current stream if
        CuPy is imported, else the legacy default stream.
        Or a pointer as int, or a stream of CuPy, PyCUDA, PyTorch, Numba or cuda.core.

x and y are arrays of CuPy, PyTorch, Numba, PyCUDA or any library with __cuda_array_interface__ or DLPack,
on the current GPU. Nothing is copied. The kernel waits for the stream that an array's
__cuda_array_interface__ names, and for the current stream of a library with DLPack's C functions
(type(x).__dlpack_c_exchange_api__; PyTorch 2.11 has them). Other DLPack arrays are asked for with `stream`.
CuPy arrays are taken as by CuPy's own kernels, and an older PyTorch names no stream: where their data come
from another stream than `stream`, order the two yourself, with stream=torch.cuda.current_stream().

Raises TypeError (not a GPU array, wrong dtype, host memory), ValueError (shape, layout, read-only, overlap,
another GPU, a tensor that requires a gradient), RuntimeError (what CUDA reports, as no driver). Nothing is
launched on a bad argument.
)");
}

} // namespace fourways
