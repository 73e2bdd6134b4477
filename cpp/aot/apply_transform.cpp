// What Python sees of apply_transform: arguments checked, then launched by apply_transform.cu.

#include "bind_in_out.hpp"

namespace fourways {

// in apply_transform.cu
cudaError_t launch_apply_transform(const float *x, float *y, long long n, cudaStream_t stream);

void bind_apply_transform(py::module_ &m)
{
    const auto launch = [](In x, Out y, cudaStream_t on) { return launch_apply_transform(x.data, y.data, x.size, on); };
    bind_in_out(m, "apply_transform", launch, R"(apply_transform(x, y, stream=None) -> None

y = f(f(... f(x))), element by element, with 64 calls of f(x) = 0.99f * x + 0.5f: the library's kernel with the
function that stands in for a user's. Returns as soon as the kernel is queued.
A build with -DCMAKE_CUDA_FLAGS=-DCALLS=8 makes 8 calls instead.

x       float32, any shape, C-contiguous
y       float32, the shape of x, C-contiguous, writable, no memory shared with x

stream, the kinds of arrays and the errors raised are those of doublify.
)");
}

} // namespace fourways
