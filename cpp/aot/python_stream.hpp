// CUDA streams from Python objects.
#pragma once

#include <cuda_runtime_api.h>
#include <pybind11/pybind11.h>
#include <string>

namespace fourways {

namespace py = pybind11;

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

// object.name for names that every call asks for: the name is made into a Python string once.
#define FOURWAYS_ATTRIBUTE(object, name)                                                                               \
    ([](pybind11::handle of) {                                                                                         \
        static PyObject *const interned = PyUnicode_InternFromString(name);                                            \
        auto found = pybind11::reinterpret_steal<pybind11::object>(PyObject_GetAttr(of.ptr(), interned));              \
        if (!found)                                                                                                    \
            throw pybind11::error_already_set();                                                                       \
        return found;                                                                                                  \
    }(object))

inline std::string type_name(py::handle object)
{
    const auto type = py::type::handle_of(object);
    return py::str(type.attr("__module__")).cast<std::string>() + "." + type.attr("__qualname__").cast<std::string>();
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
    const auto pointer = FOURWAYS_ATTRIBUTE(stream, "ptr");
    return static_cast<cudaStream_t>(PyLong_AsVoidPtr(pointer.ptr()));
}

// The stream that a caller named: a pointer as int, or an object with __cuda_stream__, .ptr, .handle or .cuda_stream.
inline cudaStream_t named_stream(py::handle stream, const char *who)
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
        throw py::type_error(std::string(who) + ": stream is a " + type_name(stream) +
                             "; wanted None, a stream's pointer as int, or a stream of CuPy, PyCUDA, PyTorch or Numba");
    const size_t address = PyLong_AsSize_t(pointer.ptr());
    if (PyErr_Occurred()) {
        PyErr_Clear();
        throw py::value_error(std::string(who) + ": stream is " + py::repr(pointer).cast<std::string>() +
                              "; wanted the pointer of a stream, 0 for the legacy default stream");
    }
    return reinterpret_cast<cudaStream_t>(address);
}

// 0 and cudaStreamLegacy are two names of one stream.
inline cudaStream_t canonical(cudaStream_t stream)
{
    return stream == nullptr ? cudaStreamLegacy : stream;
}

} // namespace fourways
