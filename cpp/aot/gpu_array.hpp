// Arrays of GPU libraries as arguments of pybind11's functions: checked, and nothing copied.
//
//     void doublify(py::object x, py::object y, py::object stream)
//     {
//         const GpuArray<const float> in(__func__, "x", x); // const: an input
//         const GpuArray<float> out(__func__, "y", y);      // no const: an output, which must be writable
//         same_shape(in, out);
//         no_overlap(in, out);
//         launch(__func__, stream, {&in, &out}, [&](cudaStream_t on) {
//             return launch_doublify(in.data, out.data, in.size, on);
//         });
//     }
//     …
//     m.def("doublify", &doublify, "x"_a, "y"_a, "stream"_a = py::none());
//
// Takes arrays of CuPy, PyTorch, and any library with __cuda_array_interface__ or DLPack; gpu_array.cpp reads them.
// Only launch() needs a driver, and it starts nothing unless every argument is right.
// __func__ is C++'s name of the function that it stands in: every message begins with it.
#pragma once

#include <cuda_runtime_api.h>
#include <functional>
#include <memory>
#include <optional>
#include <pybind11/pybind11.h>
#include <string>
#include <vector>

namespace fourways {

namespace py = pybind11;
using namespace py::literals; // "x"_a: an argument called x

struct Argument { // whom a message is about: "doublify: x is read-only; wanted …"
    const char *function, *name;
    py::type_error type_error(const std::string &problem) const;
    py::value_error value_error(const std::string &problem) const;
};

using Shape = std::vector<long long>;

std::string text(const Shape &shape); // as Python writes it: (3, 5) or (16,)

// --- dtypes: NumPy's letter of a kind, and the bytes -----------------------------------------------------------------

// A struct is 'V', which takes any dtype of its size. For one more type write in your own file, for example:
//     template <> inline constexpr char fourways::kind<__half> = 'f';
template <class T>
inline constexpr char kind = std::is_same_v<T, bool>       ? 'b'
                             : std::is_floating_point_v<T> ? 'f'
                             : !std::is_integral_v<T>      ? 'V'
                             : std::is_signed_v<T>         ? 'i'
                                                           : 'u';
template <> inline constexpr char kind<float2> = 'c'; // complex64
template <> inline constexpr char kind<double2> = 'c';

struct Dtype {
    std::string kind; // NumPy's letter, or the whole name of a dtype that no C++ type here has, as ">f4"
    size_t bytes;
    std::string name() const; // float32
};

// --- what an array says of itself, unchecked -------------------------------------------------------------------------

struct Description {
    char *begin = nullptr;
    Shape shape;
    std::optional<Shape> strides; // in bytes; none: C order
    Dtype dtype;
    bool read_only = false;
    std::optional<int> device;            // none: CUDA is to be asked
    std::optional<cudaStream_t> producer; // has work on the array, which is to be waited for
    enum { others, cupys, producers } default_stream = others;
    std::shared_ptr<void> owner; // of the memory, until the launch
};

// --- arrays, checked -------------------------------------------------------------------------------------------------

struct GpuMemory : Description {
    Argument argument;
    long long size = 1; // elements
    char *end;

    GpuMemory(Argument of, py::handle array, bool writable, Dtype wanted, size_t alignment);
};

// A C-contiguous array of T on a GPU. TypeError: another kind of object, dtype or memory. ValueError: the rest.
template <class T> struct GpuArray : GpuMemory {
    T *data;

    GpuArray(const char *function, const char *name, py::handle array)
        : GpuMemory({function, name}, array, !std::is_const_v<T>, {{kind<std::remove_const_t<T>>}, sizeof(T)},
                    alignof(T)),
          data(reinterpret_cast<T *>(begin))
    {
    }
};

// Each raises ValueError.
void has_dimensions(const GpuMemory &array, size_t wanted, const std::string &which);
void has_shape(const GpuMemory &array, const Shape &wanted, const std::string &why);
void same_shape(const GpuMemory &a, const GpuMemory &b);
void no_overlap(const GpuMemory &a, const GpuMemory &b); // for __restrict__: not even the same array twice

// A number, which pybind11 hands on as double, for a kernel that takes float. ValueError: beyond float32's range.
float as_float(const char *function, const char *name, double number);

// start(cudaStream_t) -> cudaError_t queues the kernel, without the GIL, after all checks. It runs on `stream` as
// Python gave it, once the work is done that the arrays' own libraries have queued on them. None is CuPy's current stream if
// one of the arrays is CuPy's, else that of the first library that says which it is, else the legacy default stream.
void launch(const char *function, const py::object &stream, const std::vector<const GpuMemory *> &arrays,
            const std::function<cudaError_t(cudaStream_t)> &start);

} // namespace fourways
