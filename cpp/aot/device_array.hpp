// What bindings are made of: def() adds a function to the module, Call checks the GPU arrays that it gets, zero copy.
//
//     def(
//         m, "doublify", {"x", "y"},
//         [](Call &call) {
//             const auto in = call.array<const float>("x"); // const: an input; no const: an output, must be writable
//             const auto out = call.array<float>("y");
//             call.same_shape(in, out);
//             call.no_overlap(in, out);
//             call.launch([&](cudaStream_t on) { return launch_doublify(in.data, out.data, in.size, on); });
//         },
//         "doublify(x, y, stream=None) -> None ...");
//
// array() and the checks after it need no driver. launch() does, and starts nothing unless every argument is right.
//
// No pybind11 in here: its headers alone take the compiler four seconds. device_array.cpp and module.cpp have them.
#pragma once

#include "argument.hpp"

#include <cuda_runtime_api.h>
#include <functional>
#include <type_traits>
#include <vector>

namespace pybind11 {
class module_;
}

namespace fourways {

namespace py = pybind11;

using Shape = std::vector<long long>;

// As Python writes it: (3, 5) or (16,).
std::string text(const Shape &shape);

// NumPy's name and type string of an element type, and its size in bytes.
struct Element {
    const char *name, *typestr;
    size_t size;
};
template <class T> struct ElementOf;
template <> struct ElementOf<float> { static constexpr Element value{"float32", "<f4", 4}; };
template <> struct ElementOf<double> { static constexpr Element value{"float64", "<f8", 8}; };
template <> struct ElementOf<int> { static constexpr Element value{"int32", "<i4", 4}; };
template <> struct ElementOf<long long> { static constexpr Element value{"int64", "<i8", 8}; };

struct Array {
    Argument argument;
    char *begin, *end;
    long long size; // elements
    Shape shape;
};

template <class T> struct DeviceArray : Array {
    explicit DeviceArray(Array checked) : Array(std::move(checked)), data(reinterpret_cast<T *>(begin)) {}
    T *data;
};

class Call {
  public:
    // A C-contiguous array of T. TypeError: another kind of object, dtype or memory. ValueError: the rest.
    template <class T> DeviceArray<T> array(const char *name)
    {
        return DeviceArray<T>(checked(name, !std::is_const_v<T>, ElementOf<std::remove_const_t<T>>::value));
    }

    // A number, rounded to float32. TypeError: no number. ValueError: not in float32's range.
    float number(const char *name) const;
    // A whole number. TypeError: none. ValueError: not in int64's range.
    long long integer(const char *name) const;

    void same_shape(const Array &a, const Array &b) const;
    // For kernels whose pointers are __restrict__: not even the same array twice.
    void no_overlap(const Array &a, const Array &b) const;

    // start(cudaStream_t) -> cudaError_t queues the kernel. It runs without the GIL, after all checks.
    template <class Start> void launch(const Start &start)
    {
        queue([](const void *start, cudaStream_t on) { return (*static_cast<const Start *>(start))(on); }, &start);
    }

    // This argument is what the function returns to Python. Without it: None.
    void returns(const char *name);

    struct Given; // what Python gave and what became of it
    explicit Call(Given &given) : given_(given) {}

  private:
    Given &given_;

    Array checked(const char *name, bool writable, const Element &element);
    void queue(cudaError_t (*start)(const void *, cudaStream_t), const void *data);
};

// Adds to the module a function of these arguments and of a last one, stream=None, which launch() takes.
// A Call finds what Python gave for an argument by its name.
void def(py::module_ &m, const char *name, const std::vector<const char *> &arguments,
         const std::function<void(Call &)> &body, const char *doc);

} // namespace fourways
