// The extension module fourways_aot: the kernels of cpp/kernels, compiled ahead of time.

#ifndef FOURWAYS_BINDINGS
#error "CMake says what goes in here. Build with: cd cpp && cmake --preset release && cmake --build --preset release"
#endif

#include "device_array.hpp"
#include "launch.hpp"

#include <cmath>

namespace fourways {

using namespace py::literals;

static constexpr const char *module_doc = R"(The Four Ways kernels, compiled ahead of time by nvcc and bound with pybind11.

built_for     the code inside: "sm_90" is machine code of one architecture, "compute_75" PTX for that and newer ones
cuda_version  the CUDA release that compiled it, as "13.0"
)";

// One binding per kernel, called bind_<kernel>. Inline: of a kernel left out of FOURWAYS_KERNELS nothing stays behind.

inline void bind_colmeans(py::module_ &m)
{
    m.def(
        "colmeans",
        [](py::handle x, py::handle means, py::handle stream) {
            Call call("colmeans", stream);
            const auto in = call.array<const float>("x", x);
            const auto out = call.array<float>("means", means);
            if (in.shape.size() != 3)
                throw in.argument.value_error("has shape " + text(in.shape) +
                                              "; wanted three dimensions, (batch, rows, columns)");
            const auto wanted = py::make_tuple(in.shape[0], in.shape[2]);
            if (!out.shape.equal(wanted))
                throw out.argument.value_error("has shape " + text(out.shape) + "; wanted " + text(wanted) +
                                               ", a mean for each column of each matrix of x");
            call.no_overlap(in, out);
            call.launch([&](cudaStream_t on) {
                return launch_colmeans(in.data, out.data, in.extent(0), in.extent(1), in.extent(2), on);
            });
        },
        "x"_a, "means"_a, "stream"_a = py::none(),
        R"(colmeans(x, means, stream=None) -> None

means[b, c] = the mean of x[b, :, c]: of every column of every matrix, on the GPU. Adds in float32.
Returns as soon as the kernel is queued. The means of matrices without rows are NaN.

x       float32, shape (batch, rows, columns), C-contiguous
means   float32, shape (batch, columns), C-contiguous, writable, no memory shared with x

stream, the kinds of arrays and the errors raised are those of doublify.
)");
}

inline void bind_doublify(py::module_ &m)
{
    m.def(
        "doublify",
        [](py::handle x, py::handle y, py::handle stream) {
            Call call("doublify", stream);
            const auto in = call.array<const float>("x", x);
            const auto out = call.array<float>("y", y);
            call.same_shape(in, out);
            call.no_overlap(in, out);
            call.launch([&](cudaStream_t on) { return launch_doublify(in.data, out.data, in.size, on); });
        },
        "x"_a, "y"_a, "stream"_a = py::none(),
        R"(doublify(x, y, stream=None) -> None

y = 2 * x, element by element, on the GPU. Returns as soon as the kernel is queued.
A build with -DCMAKE_CUDA_FLAGS=-DFACTOR=3 multiplies by 3 instead.

x       float32, any shape, C-contiguous
y       float32, the shape of x, C-contiguous, writable, no memory shared with x
stream  None: CuPy's current stream if CuPy is imported, else the legacy default stream.
        Or a pointer as int, or a stream of CuPy, PyCUDA, PyTorch, Numba or cuda.core.

x and y are arrays of CuPy, PyTorch, Numba, PyCUDA or any library with __cuda_array_interface__ or DLPack,
on the current GPU. Nothing is copied. The kernel waits for the stream that an array's
__cuda_array_interface__ names, and DLPack arrays are asked for with `stream`. CuPy arrays are taken as by
CuPy's own kernels, and PyTorch names no stream: where their data come from another stream than `stream`,
order the two yourself, for PyTorch with stream=torch.cuda.current_stream().

Raises TypeError (not a GPU array, wrong dtype, host memory), ValueError (shape, layout, read-only, overlap,
another GPU), RuntimeError (what CUDA reports, as no driver). Nothing is launched on a bad argument.
)");
}

inline void bind_reduce(py::module_ &m)
{
    const auto bind = [&](const char *name, auto launch, const char *doc) {
        m.def(
            name,
            [=](py::handle x, py::handle total, py::handle stream) {
                Call call(name, stream);
                const auto in = call.array<const float>("x", x);
                const auto out = call.array<float>("total", total);
                if (out.size != 1)
                    throw out.argument.value_error("has shape " + text(out.shape) + "; wanted one element, as (1,)");
                call.no_overlap(in, out);
                call.launch([&](cudaStream_t on) { return launch(in.data, out.data, in.size, on); });
            },
            "x"_a, "total"_a, "stream"_a = py::none(), doc);
    };
    bind("reduce", launch_reduce, R"(reduce(x, total, stream=None) -> None

total[0] = the sum of x, by the kernel of cpp/kernels/reduce.cuh. Returns as soon as the work is queued.
Adds in float32. The blocks add to total in the order in which they end, so that the last bits of a sum that
is not exact may differ from run to run. device_reduce always gives the same.

x       float32, any shape, C-contiguous; 0 is the sum of no elements
total   float32, one element, writable, not in the memory of x. What it held does not matter

stream, the kinds of arrays and the errors raised are those of doublify.
)");
    bind("device_reduce", launch_device_reduce, R"(device_reduce(x, total, stream=None) -> None

total[0] = the sum of x, by cub::DeviceReduce. Returns as soon as the work is queued.
Adds in float32. On one GPU the result is the same in every run.

x       float32, any shape, C-contiguous; 0 is the sum of no elements
total   float32, one element, writable, not in the memory of x. What it held does not matter

CUB's temporary storage is allocated and freed in the order of the stream (cudaMallocAsync, cudaFreeAsync).
stream, the kinds of arrays and the errors raised are those of doublify.
)");
}

inline void bind_scan(py::module_ &m)
{
    const auto bind = [&](const char *name, auto launch, const char *doc) {
        m.def(
            name,
            [=](py::handle x, py::handle y, py::handle stream) {
                Call call(name, stream);
                const auto in = call.array<const float>("x", x);
                const auto out = call.array<float>("y", y);
                call.same_shape(in, out);
                call.no_overlap(in, out);
                call.launch([&](cudaStream_t on) { return launch(in, out, on); });
            },
            "x"_a, "y"_a, "stream"_a = py::none(), doc);
    };
    using In = const DeviceArray<const float> &;
    using Out = const DeviceArray<float> &;
    const auto rows = [](In x, Out y, cudaStream_t on) {
        const long long columns = x.shape.empty() ? 1 : x.extent(x.shape.size() - 1);
        return launch_scan(x.data, y.data, columns ? x.size / columns : 0, columns, on);
    };
    const auto whole = [](In x, Out y, cudaStream_t on) { return launch_device_scan(x.data, y.data, x.size, on); };
    bind("scan", rows, R"(scan(x, y, stream=None) -> None

y[..., c] = x[..., 0] + ... + x[..., c]: the prefix sums along the last axis, by the kernel of
cpp/kernels/scan.cuh, which gives each row to one block. Returns as soon as the kernel is queued.
Adds in float32. For few long rows take device_scan, row by row.

x       float32, any shape, C-contiguous
y       float32, the shape of x, C-contiguous, writable, no memory shared with x

stream, the kinds of arrays and the errors raised are those of doublify.
)");
    bind("device_scan", whole, R"(device_scan(x, y, stream=None) -> None

The prefix sums of all elements of x in C order, as numpy.cumsum(x) gives them, by cub::DeviceScan: all blocks work
on one scan. Returns as soon as the work is queued. Adds in float32, grouped anew in every run, so that
the last bits of sums that are not exact may differ from run to run.

x       float32, any shape, C-contiguous
y       float32, the shape of x, C-contiguous, writable, no memory shared with x

CUB's temporary storage is allocated and freed in the order of the stream (cudaMallocAsync, cudaFreeAsync).
stream, the kinds of arrays and the errors raised are those of doublify.
)");
}

inline void bind_long_scan(py::module_ &m)
{
    m.def(
        "long_scan",
        [](py::handle x, py::handle y, py::handle stream) {
            Call call("long_scan", stream);
            const auto in = call.array<const float>("x", x);
            const auto out = call.array<float>("y", y);
            call.same_shape(in, out);
            call.no_overlap(in, out);
            call.launch([&](cudaStream_t on) { return launch_long_scan(in.data, out.data, in.size, on); });
        },
        "x"_a, "y"_a, "stream"_a = py::none(),
        R"(long_scan(x, y, stream=None) -> None

The prefix sums of all elements of x in C order, as numpy.cumsum(x) gives them, by the kernel of
cpp/kernels/long_scan.cuh: as many blocks as the GPU runs at once share one scan. Returns as soon as
the work is queued. Adds in float32. On one GPU the result is the same in every run.

x       float32, any shape, C-contiguous
y       float32, the shape of x, C-contiguous, writable, no memory shared with x

Temporary storage, a thousandth of x, is allocated and freed in the order of the stream.
stream, the kinds of arrays and the errors raised are those of doublify.
)");
}

inline void bind_saxpy(py::module_ &m)
{
    m.def(
        "saxpy",
        [](py::handle a, py::handle x, py::handle y, py::handle z, py::handle stream) {
            Call call("saxpy", stream);
            const Argument number{"saxpy", "a"};
            const double value = PyFloat_AsDouble(a.ptr());
            if (value == -1 && PyErr_ExceptionMatches(PyExc_TypeError))
                throw number.type_error("is a " + type_name(a) + "; wanted a number");
            if (PyErr_Occurred())
                throw py::error_already_set();
            const auto factor = static_cast<float>(value);
            if (std::isinf(factor) && !std::isinf(value))
                throw number.value_error("is " + text(a) + "; wanted a number within float32's range");
            const auto in = call.array<const float>("x", x), added = call.array<const float>("y", y);
            const auto out = call.array<float>("z", z);
            call.same_shape(in, added);
            call.same_shape(in, out);
            call.no_overlap(in, out);
            call.no_overlap(added, out);
            call.launch([&](cudaStream_t on) {
                return launch_saxpy(factor, in.data, added.data, out.data, in.size, on);
            });
        },
        "a"_a, "x"_a, "y"_a, "z"_a, "stream"_a = py::none(),
        R"(saxpy(a, x, y, z, stream=None) -> None

z = a * x + y, element by element, on the GPU, with one rounding. Returns as soon as the kernel is queued.
Quickest where x, y and z start at multiples of 16 bytes, right everywhere.

a       a number, rounded to float32
x, y    float32, any shape, C-contiguous; both may be the same array
z       float32, the shape of x, C-contiguous, writable, no memory shared with x or y
stream  as of doublify, and so are the arrays that are taken and what is raised
)");
}

inline void bind_stencil(py::module_ &m)
{
    static constexpr auto check_grids = [](const Call &call, const auto &u, const auto &v) {
        if (u.shape.size() != 2)
            throw u.argument.value_error("has shape " + text(u.shape) + "; wanted two dimensions, (height, width)");
        call.same_shape(u, v);
        call.no_overlap(u, v);
    };
    m.def(
        "stencil",
        [](py::handle u, py::handle v, py::handle stream) {
            Call call("stencil", stream);
            const auto in = call.array<const float>("u", u);
            const auto out = call.array<float>("v", v);
            check_grids(call, in, out);
            call.launch([&](cudaStream_t on) {
                return launch_stencil(in.data, out.data, in.extent(0), in.extent(1), on);
            });
        },
        "u"_a, "v"_a, "stream"_a = py::none(),
        R"(stencil(u, v, stream=None) -> None

One Jacobi step of the heat equation from u to v: each cell becomes the mean of its four neighbours, the cells of
the border keep their temperature. Returns as soon as the kernel is queued.

u       float32, (height, width), C-contiguous
v       float32, the shape of u, C-contiguous, writable, no memory shared with u
stream  as doublify takes it; help(fourways_aot.doublify) says which arrays and streams, and what is raised.

Fast where the width is a multiple of 4 and both arrays start at a multiple of 16 bytes; right everywhere.
)");
    m.def(
        "stencil_steps",
        [](py::object u, py::object v, long long steps, py::handle stream) {
            Call call("stencil_steps", stream);
            const auto first = call.array<float>("u", u);
            const auto second = call.array<float>("v", v);
            check_grids(call, first, second);
            if (steps < 0)
                throw Argument{"stencil_steps", "steps"}.value_error("is " + std::to_string(steps) +
                                                                     "; wanted 0 or more");
            call.launch([&](cudaStream_t on) {
                return launch_stencil_steps(first.data, second.data, first.extent(0), first.extent(1), steps, on);
            });
            return steps % 2 ? v : u;
        },
        "u"_a, "v"_a, "steps"_a, "stream"_a = py::none(),
        R"(stencil_steps(u, v, steps, stream=None) -> the array with the result: v if steps is odd, else u

`steps` times stencil, from u to v, from v to u, and so on: both arrays are written. The loop is C++ and runs without
the GIL. Returns as soon as the last kernel is queued, which blocks while CUDA's queue of launches is full.

u, v    float32, (height, width), one shape, C-contiguous, writable, no memory shared
steps   0 or more
stream  as doublify takes it; help(fourways_aot.doublify) says which arrays and streams, and what is raised.
)");
}

inline void bind_transpose(py::module_ &m)
{
    m.def(
        "transpose",
        [](py::handle a, py::handle b, py::handle stream) {
            Call call("transpose", stream);
            const auto in = call.array<const float>("a", a);
            const auto out = call.array<float>("b", b);
            if (in.shape.size() != 2)
                throw in.argument.value_error("has shape " + text(in.shape) + "; wanted two dimensions");
            const auto transposed = py::make_tuple(in.shape[1], in.shape[0]);
            if (!out.shape.equal(transposed))
                throw out.argument.value_error("has shape " + text(out.shape) + "; wanted " + text(transposed) +
                                               ", the shape of a transposed");
            call.no_overlap(in, out);
            call.launch([&](cudaStream_t on) {
                return launch_transpose(in.data, out.data, in.extent(0), in.extent(1), on);
            });
        },
        "a"_a, "b"_a, "stream"_a = py::none(),
        R"(transpose(a, b, stream=None) -> None

b = a.T, copied into place, on the GPU: b[x, y] = a[y, x]. Returns as soon as the kernel is queued.

a       float32, shape (h, w), C-contiguous
b       float32, shape (w, h), C-contiguous, writable, no memory shared with a

stream, the kinds of arrays and the errors raised are those of doublify.
)");
}

inline void bind_apply_transform(py::module_ &m)
{
    m.def(
        "apply_transform",
        [](py::handle x, py::handle y, py::handle stream) {
            Call call("apply_transform", stream);
            const auto in = call.array<const float>("x", x);
            const auto out = call.array<float>("y", y);
            call.same_shape(in, out);
            call.no_overlap(in, out);
            call.launch([&](cudaStream_t on) { return launch_apply_transform(in.data, out.data, in.size, on); });
        },
        "x"_a, "y"_a, "stream"_a = py::none(),
        R"(apply_transform(x, y, stream=None) -> None

y = f(f(... f(x))), element by element, with 64 calls of f(x) = 0.99f * x + 0.5f: the library's kernel with the
function that stands in for a user's. Returns as soon as the kernel is queued.
A build with -DCMAKE_CUDA_FLAGS=-DCALLS=8 makes 8 calls instead.

x       float32, any shape, C-contiguous
y       float32, the shape of x, C-contiguous, writable, no memory shared with x

stream, the kinds of arrays and the errors raised are those of doublify.
)");
}

PYBIND11_MODULE(fourways_aot, m)
{
    py::options options;
    options.disable_function_signatures(); // the docstrings start with their own
    m.doc() = module_doc;
    m.attr("__version__") = FOURWAYS_VERSION;
    m.attr("built_for") = py::tuple(py::str(FOURWAYS_BUILT_FOR).attr("split")());
    m.attr("cuda_version") = std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
    FOURWAYS_BINDINGS; // bind_doublify(m), bind_…
}

} // namespace fourways
