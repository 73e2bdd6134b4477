// What a kernel's launch takes beside arrays and numbers: grid and block, structs by value, arrays of vector types.
#pragma once

#include "gpu_array.hpp"

#include <limits>

namespace fourways {

// A grid, or a block if that is its name, from an int or one to three of them in a tuple. TypeError: another object.
// ValueError: beyond the limits that all GPUs have ("Compute Capabilities" in CUDA's programming guide).
inline dim3 extent(const char *function, const char *name, const py::object &given)
{
    const Argument argument{function, name};
    const bool block = std::string_view(name) == "block";
    const long long most[] = {block ? 1024 : 0x7fffffff, block ? 1024 : 65535, block ? 64 : 65535};
    const auto list = py::isinstance<py::tuple>(given) ? py::tuple(given) : py::make_tuple(given);
    const char *const wanted = "; wanted an int, or one to three in a tuple";
    const auto is = [&] { return "is " + std::string(py::repr(given)); };
    if (list.empty() || list.size() > 3)
        throw argument.value_error(is() + wanted);
    unsigned extents[] = {1, 1, 1};
    for (size_t i = 0; i < list.size(); ++i) {
        if (!PyIndex_Check(list[i].ptr()))
            throw argument.type_error(is() + wanted);
        const py::int_ index = py::reinterpret_steal<py::int_>(PyNumber_Index(list[i].ptr()));
        int beyond = 0;
        const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &beyond);
        if (beyond || value < 1 || value > most[i])
            throw argument.value_error(is() + "; wanted 1 to " + std::to_string(most[i]) + " in " + "xyz"[i]);
        extents[i] = static_cast<unsigned>(value);
    }
    const unsigned threads = extents[0] * extents[1] * extents[2];
    if (block && threads > 1024)
        throw argument.value_error(is() + ", " + std::to_string(threads) + " threads; wanted 1024 at most");
    return {extents[0], extents[1], extents[2]};
}

// The bytes of a struct: of a NumPy array with one element, or another object of the buffer protocol, as numpy.void.
// TypeError: another object, or not so many contiguous bytes.
inline std::string struct_bytes(const char *function, const char *name, const py::object &given, size_t size)
{
    const auto wrong = [&](const std::string &problem) {
        const std::string type = py::str(py::type::handle_of(given).attr("__name__"));
        return Argument{function, name}.type_error("is a " + type + problem + "; wanted a struct of " +
                                                   std::to_string(size) + " bytes, as a numpy.void or bytes");
    };
    py::object source = given;
    if (std::string_view(Py_TYPE(given.ptr())->tp_name) == "numpy.ndarray")
        source = given.attr("tobytes")(); // in a fifth of the time that the buffer of a structure takes
    Py_buffer buffer;
    if (PyObject_GetBuffer(source.ptr(), &buffer, PyBUF_SIMPLE)) {
        PyErr_Clear();
        throw wrong(", which shows no contiguous bytes");
    }
    const std::string bytes(static_cast<const char *>(buffer.buf), static_cast<size_t>(buffer.len));
    PyBuffer_Release(&buffer);
    if (bytes.size() != size)
        throw wrong(" of " + std::to_string(bytes.size()) + " bytes");
    return bytes;
}

// An extent as the kernel takes it. ValueError: too large for that.
template <class T> T fits(const GpuMemory &array, long long extent)
{
    constexpr auto most = std::numeric_limits<T>::max();
    if (extent > static_cast<long long>(most))
        throw array.argument.value_error("has shape " + text(array.shape) + "; the kernel counts to " +
                                         std::to_string(most));
    return static_cast<T>(extent);
}

// The numbers of a vector type stand along the last axis, and CUDA wants its alignment. ValueError otherwise.
inline void check_vectors(const GpuMemory &array, const char *type, long long count, size_t alignment)
{
    if (array.shape.empty() || array.shape.back() != count)
        throw array.argument.value_error("has shape " + text(array.shape) + "; wanted " + std::to_string(count) +
                                         " numbers along the last axis, those of a " + type);
    const auto address = reinterpret_cast<size_t>(array.begin);
    if (array.size > 0 && address % alignment != 0)
        throw array.argument.value_error("starts at address " + std::to_string(address) + "; wanted a multiple of " +
                                         std::to_string(alignment) + ", as a " + type + " does");
}

} // namespace fourways
