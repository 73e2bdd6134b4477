// What bindings are made of: def() adds a function to the module, Call checks what Python gave, zero copy.
//
//     def(
//         m, "soften", {"x", "y", "gain", "knee", "grid", "block"},
//         [](Call &call) {
//             const auto in = call.array<const float>("x"); // const: an input; no const: an output, must be writable
//             const auto out = call.array<float>("y");      // element.hpp says which types there are
//             call.same_shape(in, out);
//             call.no_overlap(in, out);
//             const auto gain = call.scalar<double>("gain"); // a number: any of C++'s, float2 and double2 for complex
//             const auto knee = call.value<Knee>("knee");    // a struct, byte by byte
//             const dim3 grid = call.extent("grid"), block = call.extent("block"); // where Python decides
//             call.launch([&](cudaStream_t on) {
//                 soften<<<grid, block, 0, on>>>(in.data, out.data, gain, knee, in.size); // in a .cu, of course
//                 return cudaGetLastError();
//             });
//         },
//         "soften(x, y, gain, knee, grid, block, stream=None) -> None ...");
//
// All but launch() need no driver. launch() does, and starts nothing unless every argument is right.
//
// No pybind11 in here: its headers alone take the compiler four seconds. device_array.cpp and module.cpp have them.
#pragma once

#include "argument.hpp"
#include "element.hpp"

#include <cuda_runtime_api.h>
#include <functional>
#include <limits>
#include <vector>

namespace pybind11 {
class module_;
}

namespace fourways {

namespace py = pybind11;

using Shape = std::vector<long long>;

// As Python writes it: (3, 5) or (16,).
std::string text(const Shape &shape);

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
        return DeviceArray<T>(checked(name, !std::is_const_v<T>, ElementOf<std::remove_const_t<T>>::value, alignof(T)));
    }

    // A number of Python or NumPy, converted as C does. TypeError: no number, or none of T's kind, as 1.5 for an int.
    // ValueError: not in T's range.
    template <class T> T scalar(const char *name) const
    {
        constexpr const Element &element = ElementOf<T>::value;
        using limits = std::numeric_limits<T>;
        if constexpr (std::is_integral_v<T>)
            return static_cast<T>(whole(name, element, limits::min(), limits::max()));
        else if constexpr (std::is_floating_point_v<T>)
            return static_cast<T>(real(name, element));
        else {
            const double2 number = complex(name, element);
            return {static_cast<decltype(T::x)>(number.x), static_cast<decltype(T::y)>(number.y)};
        }
    }

    // A struct by value, from a NumPy array with one element, or another object of the buffer protocol: numpy.void,
    // bytes. TypeError: another object, or not of sizeof(T) contiguous bytes.
    template <class T> T value(const char *name) const
    {
        static_assert(std::is_trivially_copyable_v<T>, "a kernel's argument is copied byte by byte");
        T copy;
        bytes(name, &copy, sizeof(T));
        return copy;
    }

    // A grid, or a block if that is its name, from an int or one to three in a tuple. TypeError: another object.
    // ValueError: beyond CUDA's limits.
    dim3 extent(const char *name) const;

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

    Array checked(const char *name, bool writable, const Element &element, size_t alignment);
    unsigned long long whole(const char *name, const Element &, long long least, unsigned long long most) const;
    double real(const char *name, const Element &) const;
    double2 complex(const char *name, const Element &) const;
    void bytes(const char *name, void *copy, size_t size) const;
    void queue(cudaError_t (*start)(const void *, cudaStream_t), const void *data);
};

// Adds to the module a function of these arguments, 16 at most, and of a last one, stream=None, which launch() takes.
// A Call finds what Python gave for an argument by its name.
void def(py::module_ &m, const char *name, const std::vector<const char *> &arguments,
         const std::function<void(Call &)> &body, const char *doc);

} // namespace fourways
