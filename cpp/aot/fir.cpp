// What Python sees of fir: arguments checked, then launched by fir.cu.

#include "device_array.hpp"

#include <climits>

namespace fourways {

// in fir.cu
cudaError_t launch_fir(const float *x, const float *taps, int length, float *y, long long n, cudaStream_t stream);

void bind_fir(py::module_ &m)
{
    def(
        m, "fir", {"x", "taps", "y"},
        [](Call &call) {
            const auto x = call.array<const float>("x"), taps = call.array<const float>("taps");
            const auto y = call.array<float>("y");
            for (const Array *array : std::initializer_list<const Array *>{&x, &taps, &y})
                if (array->shape.size() != 1)
                    throw array->argument.value_error("has shape " + text(array->shape) + "; wanted one dimension");
            if (taps.size < 1 || taps.size > INT_MAX)
                throw taps.argument.value_error("has " + std::to_string(taps.size) +
                                                " elements; wanted 1 to 2147483647");
            const long long inputs = y.size + taps.size - 1;
            if (x.size != inputs)
                throw x.argument.value_error("has " + std::to_string(x.size) + " elements; wanted " +
                                             std::to_string(inputs) + ", those of y and of taps together, less 1");
            call.no_overlap(x, y);
            call.no_overlap(taps, y);
            call.launch([&](cudaStream_t on) {
                return launch_fir(x.data, taps.data, static_cast<int>(taps.size), y.data, y.size, on);
            });
        },
        R"(fir(x, taps, y, stream=None) -> None

y[i] = taps[0] * x[i] + taps[1] * x[i + 1] + ..., summed in float32, on the GPU. Returns as soon as the kernel is
queued. Compiled for 8, 16 and 32 taps in particular, and for any other number in a loop. With these three it is
quickest where x and y start at multiples of 16 bytes; it is right everywhere.

x       float32, one dimension, C-contiguous, len(y) + len(taps) - 1 elements
taps    float32, one dimension, C-contiguous, 1 element or more
y       float32, one dimension, C-contiguous, writable, no memory shared with x or taps
stream  as of doublify, and so are the arrays that are taken and what is raised
)");
}

} // namespace fourways
