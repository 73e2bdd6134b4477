// CUDA streams from Python objects.
#pragma once

#include "python_objects.hpp"

#include <cuda_runtime_api.h>

namespace fourways {

// What a call needs of CuPy, looked up once, and only after somebody else imported CuPy.
struct CuPy {
    PyObject *ndarray = nullptr;
    PyObject *get_current_stream = nullptr;
    intptr_t (*current_stream_ptr)() = nullptr; // the same in C, if this CuPy has it
};

inline const CuPy *cupy()
{
    static CuPy found; // keeps its two references for the life of the process
    if (found.ndarray)
        return &found;
    static const Name name("cupy"), cuda("cuda"), ndarray("ndarray"), get_current_stream("get_current_stream"),
        stream("stream"), functions("__pyx_capi__");
    const auto module = py::reinterpret_steal<py::object>(PyImport_GetModule(name.ptr()));
    if (!module) {
        PyErr_Clear();
        return nullptr;
    }
    const auto submodule = cuda.if_any(module);
    auto type = ndarray.if_any(module);
    auto current = submodule ? get_current_stream.if_any(submodule) : py::object();
    if (!type || !current)
        return nullptr; // its import is still under way
    // Cython lists the C functions of a module, each under its signature.
    const auto streams = stream.if_any(submodule);
    const auto list = streams ? functions.if_any(streams) : py::object();
    PyObject *const function = list ? PyDict_GetItemString(list.ptr(), "get_current_stream_ptr") : nullptr;
    if (function && PyCapsule_IsValid(function, "intptr_t (void)"))
        found.current_stream_ptr =
            reinterpret_cast<intptr_t (*)()>(PyCapsule_GetPointer(function, "intptr_t (void)"));
    found.get_current_stream = current.release().ptr();
    found.ndarray = type.release().ptr();
    return &found;
}

// CuPy's current stream, or the legacy default stream where CuPy is not imported.
inline cudaStream_t current_stream()
{
    const CuPy *const library = cupy();
    if (!library)
        return nullptr;
    if (library->current_stream_ptr) {
        const intptr_t pointer = library->current_stream_ptr();
        if (PyErr_Occurred())
            throw py::error_already_set();
        return reinterpret_cast<cudaStream_t>(pointer);
    }
    const auto stream = py::reinterpret_steal<py::object>(PyObject_CallNoArgs(library->get_current_stream));
    if (!stream)
        throw py::error_already_set();
    static const Name ptr("ptr");
    return static_cast<cudaStream_t>(PyLong_AsVoidPtr(ptr.of(stream).ptr()));
}

// The stream that a caller named: a pointer as int, or an object with __cuda_stream__, .ptr, .handle or .cuda_stream.
inline cudaStream_t named_stream(py::handle stream, const Argument &argument)
{
    static const Name protocol("__cuda_stream__"), value("value");
    static const Name names[] = {Name("ptr"), Name("handle"), Name("cuda_stream")};
    py::object pointer;
    if (PyLong_Check(stream.ptr()) && !PyBool_Check(stream.ptr()))
        pointer = py::reinterpret_borrow<py::object>(stream);
    else if (const auto get = protocol.if_any(stream))
        pointer = py::tuple(get())[1];
    for (const Name &name : names)
        if (!pointer)
            pointer = name.if_any(stream);
    if (pointer && !PyLong_Check(pointer.ptr()))
        if (const auto inside = value.if_any(pointer)) // ctypes.c_void_p, which says None for 0
            pointer = inside.is_none() ? py::int_(0) : inside;
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
