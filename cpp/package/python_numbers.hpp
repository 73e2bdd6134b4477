// Numbers, structs and extents from Python objects.
#pragma once

#include "element.hpp"
#include "python_objects.hpp"

#include <cmath>
#include <cstring>
#include <string_view>

namespace fourways {

inline std::invalid_argument beyond(const Argument &argument, py::handle object, const Element &element)
{
    return argument.value_error("is " + text(object) + "; wanted a number within " + element.name + "'s range");
}

// Turns the TypeError or OverflowError that Python has just raised into one that names the argument.
[[noreturn]] inline void refuse(const Argument &argument, py::handle object, const Element &element, const char *wanted)
{
    const py::error_already_set error;
    if (error.matches(PyExc_OverflowError))
        throw beyond(argument, object, element);
    if (error.matches(PyExc_TypeError))
        throw type_error(argument, "is a " + type_name(object) + "; wanted " + wanted);
    throw error;
}

// NumPy's types of this name, or beginning with it.
inline bool is_of_numpy(py::handle object, std::string_view name)
{
    return std::string_view(Py_TYPE(object.ptr())->tp_name).substr(0, name.size()) == name;
}

// The bits of a whole number from `least` to `most`.
inline unsigned long long whole_number(const Argument &argument, py::handle object, const Element &element,
                                       long long least, unsigned long long most)
{
    PyObject *const number = is_of_numpy(object, "numpy.bool") ? PyNumber_Long(object.ptr()) // which is no index
                                                               : PyNumber_Index(object.ptr());
    if (!number)
        refuse(argument, object, element, "a whole number");
    const auto index = py::reinterpret_steal<py::object>(number);
    int over = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number, &over);
    auto bits = static_cast<unsigned long long>(value);
    bool fits = !over && value >= least && (value < 0 || bits <= most);
    if (over > 0) {
        bits = PyLong_AsUnsignedLongLong(number);
        fits = !PyErr_Occurred() && bits <= most;
        PyErr_Clear();
    }
    if (!fits)
        throw beyond(argument, object, element);
    return bits;
}

inline bool fits_float(double value)
{
    return std::isinf(value) || !std::isinf(static_cast<float>(value));
}

inline double real_number(const Argument &argument, py::handle object, const Element &element)
{
    if (is_of_numpy(object, "numpy.complex")) // NumPy would drop the imaginary part
        throw type_error(argument, "is a " + type_name(object) + "; wanted a number that is not complex");
    const double value = PyFloat_AsDouble(object.ptr());
    if (value == -1 && PyErr_Occurred())
        refuse(argument, object, element, "a number");
    if (element.size == sizeof(float) && !fits_float(value))
        throw beyond(argument, object, element);
    return value;
}

inline double2 complex_number(const Argument &argument, py::handle object, const Element &element)
{
    const Py_complex value = PyComplex_AsCComplex(object.ptr());
    if (value.real == -1 && PyErr_Occurred())
        refuse(argument, object, element, "a complex number");
    if (element.size == sizeof(float2) && !(fits_float(value.real) && fits_float(value.imag)))
        throw beyond(argument, object, element);
    return {value.real, value.imag};
}

inline void copy_bytes(const Argument &argument, py::handle object, void *copy, size_t size)
{
    static const Name tobytes("tobytes"); // in a fifth of the time that the buffer of NumPy's structures takes
    const auto wrong = [&](const std::string &problem) {
        return type_error(argument, "is a " + type_name(object) + problem + "; wanted a struct of " +
                                        std::to_string(size) + " bytes, as a numpy.void or bytes");
    };
    auto source = py::reinterpret_borrow<py::object>(object);
    if (is_of_numpy(object, "numpy.ndarray"))
        source = py::reinterpret_steal<py::object>(PyObject_CallMethodNoArgs(object.ptr(), tobytes.ptr()));
    Py_buffer buffer;
    if (!source || PyObject_GetBuffer(source.ptr(), &buffer, PyBUF_SIMPLE)) {
        PyErr_Clear();
        throw wrong(", which shows no contiguous bytes");
    }
    const auto came = static_cast<size_t>(buffer.len);
    if (came == size)
        std::memcpy(copy, buffer.buf, size);
    PyBuffer_Release(&buffer);
    if (came != size)
        throw wrong(" of " + std::to_string(came) + " bytes");
}

// A block, if that is the argument's name, or else a grid, within the limits that all GPUs have: "Compute
// Capabilities" in https://docs.nvidia.com/cuda/cuda-c-programming-guide/
inline dim3 extents(const Argument &argument, py::handle object)
{
    const bool block = std::string_view(argument.name) == "block";
    const long long most[] = {block ? 1024 : 0x7fffffff, block ? 1024 : 65535, block ? 64 : 65535};
    const auto list = PyTuple_Check(object.ptr()) ? py::reinterpret_borrow<py::tuple>(object) : py::make_tuple(object);
    const char *const wanted = "; wanted an int, or one to three of them in a tuple";
    if (list.empty() || list.size() > 3)
        throw argument.value_error("is " + text(object) + wanted);
    unsigned extent[] = {1, 1, 1};
    for (size_t i = 0; i < list.size(); ++i) {
        if (!PyIndex_Check(list[i].ptr()))
            throw type_error(argument, "is " + text(py::repr(object)) + wanted);
        const auto value = int64(list[i]);
        if (!value || *value < 1 || *value > most[i])
            throw argument.value_error("is " + text(object) + "; wanted 1 to " + std::to_string(most[i]) + " in " +
                                       "xyz"[i]);
        extent[i] = static_cast<unsigned>(*value);
    }
    const unsigned threads = extent[0] * extent[1] * extent[2];
    if (block && threads > 1024)
        throw argument.value_error("is " + text(object) + ", " + std::to_string(threads) +
                                   " threads; wanted 1024 at most");
    return {extent[0], extent[1], extent[2]};
}

} // namespace fourways
