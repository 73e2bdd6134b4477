// CUDA streams from Python objects.
#pragma once

#include "argument.hpp"

#include <cuda_runtime_api.h>
#include <pybind11/pybind11.h>

namespace fourways {

namespace py = pybind11;
using namespace py::literals; // "x"_a: an argument called x

// object.name, or a null object where there is no such attribute. Other errors of the attribute's code pass through.
inline py::object attribute(py::handle object, const char *name)
{
    auto found = py::reinterpret_steal<py::object>(PyObject_GetAttrString(object.ptr(), name));
    if (!found) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError))
            throw py::error_already_set();
        PyErr_Clear();
    }
    return found;
}

// The same for a name that every call asks for and that must be there: made into a Python string once.
class Attribute {
  public:
    explicit Attribute(const char *name) : name_(PyUnicode_InternFromString(name)) {}
    py::object operator()(py::handle object) const
    {
        auto found = py::reinterpret_steal<py::object>(PyObject_GetAttr(object.ptr(), name_));
        if (!found)
            throw py::error_already_set();
        return found;
    }

  private:
    PyObject *const name_; // kept for the life of the process
};

inline std::string text(py::handle object)
{
    return py::str(object).cast<std::string>();
}

// A Python int as it is; pybind11's cast would also take what only looks like one, and takes longer.
inline long long integer(py::handle object)
{
    const long long value = PyLong_AsLongLong(object.ptr());
    if (value == -1 && PyErr_Occurred())
        throw py::error_already_set();
    return value;
}

inline std::string type_name(py::handle object)
{
    const auto type = py::type::handle_of(object);
    const auto module = text(type.attr("__module__")), name = text(type.attr("__qualname__"));
    return module == "builtins" ? name : module + "." + name;
}

inline py::type_error type_error(const Argument &argument, const std::string &problem)
{
    return py::type_error(argument.about(problem));
}

// What a call needs of CuPy, looked up once, and only after somebody else imported CuPy.
struct CuPy {
    PyObject *ndarray = nullptr;
    PyObject *get_current_stream = nullptr;
};

inline const CuPy *cupy()
{
    static CuPy found; // keeps its two references for the life of the process
    if (found.ndarray)
        return &found;
    static PyObject *const name = PyUnicode_InternFromString("cupy");
    const auto module = py::reinterpret_steal<py::object>(PyImport_GetModule(name));
    if (!module) {
        PyErr_Clear();
        return nullptr;
    }
    const auto cuda = attribute(module, "cuda");
    auto ndarray = attribute(module, "ndarray");
    auto current = cuda ? attribute(cuda, "get_current_stream") : py::object();
    if (!ndarray || !current)
        return nullptr; // its import is still under way
    found.get_current_stream = current.release().ptr();
    found.ndarray = ndarray.release().ptr();
    return &found;
}

// CuPy's current stream, or the legacy default stream where CuPy is not imported.
inline cudaStream_t current_stream()
{
    const CuPy *const library = cupy();
    if (!library)
        return nullptr;
    const auto stream = py::reinterpret_steal<py::object>(PyObject_CallNoArgs(library->get_current_stream));
    if (!stream)
        throw py::error_already_set();
    static const Attribute ptr("ptr");
    return static_cast<cudaStream_t>(PyLong_AsVoidPtr(ptr(stream).ptr()));
}

// The stream that a caller named: a pointer as int, or an object with __cuda_stream__, .ptr, .handle or .cuda_stream.
inline cudaStream_t named_stream(py::handle stream, const Argument &argument)
{
    py::object pointer;
    if (PyLong_Check(stream.ptr()) && !PyBool_Check(stream.ptr()))
        pointer = py::reinterpret_borrow<py::object>(stream);
    else if (const auto protocol = attribute(stream, "__cuda_stream__"))
        pointer = py::tuple(protocol())[1];
    for (const char *name : {"ptr", "handle", "cuda_stream"})
        if (!pointer)
            pointer = attribute(stream, name);
    if (pointer && !PyLong_Check(pointer.ptr()))
        if (const auto value = attribute(pointer, "value")) // ctypes.c_void_p, which says None for 0
            pointer = value.is_none() ? py::int_(0) : value;
    if (!pointer || !PyLong_Check(pointer.ptr()))
        throw type_error(argument, "is a " + type_name(stream) +
                                  "; wanted None, a stream's pointer as int, or a stream of CuPy, PyCUDA, PyTorch, "
                                  "Numba or cuda.core");
    const size_t address = PyLong_AsSize_t(pointer.ptr());
    if (PyErr_Occurred()) {
        PyErr_Clear();
        throw argument.value_error("is " + text(pointer) + "; wanted a pointer, or 0 for the legacy default stream");
    }
    return reinterpret_cast<cudaStream_t>(address);
}

// 0 and cudaStreamLegacy are two names of one stream.
inline cudaStream_t canonical(cudaStream_t stream)
{
    return stream == nullptr ? cudaStreamLegacy : stream;
}

} // namespace fourways
