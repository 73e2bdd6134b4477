// What an array of any GPU library says about itself, unchecked.
//
// __cuda_array_interface__: https://nvidia.github.io/numba-cuda/user/cuda_array_interface.html (version 3)
// DLPack: https://dmlc.github.io/dlpack/latest/python_spec.html
#pragma once

#include "dlpack.hpp"
#include "python_stream.hpp"

#include <optional>

namespace fourways {

struct Described {
    size_t address = 0;
    py::tuple shape;
    py::object strides = py::none(); // a tuple in bytes, or None: C-contiguous
    py::object dtype;                // a NumPy dtype or a type string
    bool read_only = false;
    int device = unknown;
    std::optional<cudaStream_t> producer; // has work on the array to be waited for
    py::object keep;                      // must live until the launch
    static constexpr int unknown = -1, any = -2;
};

// CuPy's own __cuda_array_interface__ takes as long as a launch; the attributes behind it do not.
inline Described from_cupy(py::handle array)
{
    static const Attribute data("data"), ptr("ptr"), device_id("device_id"), shape("shape"), strides("strides"),
        dtype("dtype");
    const auto memory = data(array);
    Described found;
    found.address = PyLong_AsSize_t(ptr(memory).ptr());
    found.device = static_cast<int>(PyLong_AsLong(device_id(memory).ptr()));
    found.shape = shape(array);
    found.strides = strides(array);
    found.dtype = dtype(array);
    return found;
}

inline Described from_interface(const Argument &argument, const py::dict &interface)
{
    const auto entry = [&](const char *key) {
        return interface.contains(key) ? py::object(interface[key]) : py::object(py::none());
    };
    Described found;
    const py::tuple data = interface["data"];
    found.address = data[0].is_none() ? 0 : data[0].cast<size_t>();
    found.read_only = data[1].cast<bool>();
    found.shape = interface["shape"];
    found.dtype = py::str(interface["typestr"]);
    if (const auto strides = entry("strides"); !strides.is_none())
        found.strides = py::tuple(strides);
    if (const auto producer = entry("stream"); !producer.is_none())
        found.producer = named_stream(producer, argument);
    if (!entry("mask").is_none())
        throw py::value_error("it has a mask");
    if (!found.strides.is_none() && py::len(found.strides) != found.shape.size())
        throw py::value_error("its strides and its shape differ in length");
    return found;
}

inline Described from_tensor(const dlpack::Tensor &tensor)
{
    static constexpr char kinds[] = {'i', 'u', 'f', '?', 'V', 'c', 'b'}; // NumPy's letters, by DataType::code
    const auto [code, bits, lanes] = tensor.dtype;
    const char kind = code < sizeof(kinds) && lanes == 1 ? kinds[code] : '?';
    py::tuple shape(tensor.ndim), strides(tensor.ndim);
    for (int i = 0; i < tensor.ndim; ++i) {
        shape[i] = tensor.shape[i];
        strides[i] = tensor.strides ? tensor.strides[i] * (bits / 8) : 0;
    }
    Described found;
    found.address = reinterpret_cast<size_t>(tensor.data) + tensor.byte_offset;
    found.shape = std::move(shape);
    if (tensor.strides)
        found.strides = std::move(strides);
    found.dtype = py::str(std::string("<") + kind + std::to_string(bits / 8));
    found.device = tensor.device.type == dlpack::cuda ? tensor.device.id : Described::any;
    return found;
}

// The producer makes the data ready for the stream `on`. Its capsule stays the owner and goes with `keep`.
inline Described from_dlpack(py::handle array, cudaStream_t on)
{
    const auto stream = py::int_(reinterpret_cast<size_t>(canonical(on)));
    py::object capsule;
    try {
        capsule = array.attr("__dlpack__")("stream"_a = stream, "max_version"_a = py::make_tuple(1, 0));
    } catch (py::error_already_set &error) {
        if (!error.matches(PyExc_TypeError)) // a producer older than DLPack 1.0 takes no max_version
            throw;
        capsule = array.attr("__dlpack__")("stream"_a = stream);
    }
    const bool versioned = PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned");
    void *const content = PyCapsule_GetPointer(capsule.ptr(), versioned ? "dltensor_versioned" : "dltensor");
    if (!content)
        throw py::error_already_set();
    Described found = from_tensor(versioned ? static_cast<dlpack::ManagedVersioned *>(content)->tensor
                                            : static_cast<dlpack::Managed *>(content)->tensor);
    found.read_only = versioned && static_cast<dlpack::ManagedVersioned *>(content)->flags & dlpack::read_only;
    found.keep = std::move(capsule);
    return found;
}

// stream() -> cudaStream_t is called for DLPack only, which needs to know where the kernel will run.
template <class Stream> Described describe(const Argument &argument, py::handle array, Stream &&stream)
{
    const CuPy *const library = cupy();
    if (library && reinterpret_cast<PyObject *>(Py_TYPE(array.ptr())) == library->ndarray)
        return from_cupy(array);
    if (const auto interface = attribute(array, "__cuda_array_interface__")) {
        try {
            return from_interface(argument, py::dict(interface));
        } catch (const std::exception &error) {
            throw type_error(argument, "has a broken __cuda_array_interface__: " + std::string(error.what()));
        }
    }
    const auto device = attribute(array, "__dlpack_device__");
    if (!device)
        throw type_error(argument, "is a " + type_name(array) +
                                  "; wanted a GPU array, with __cuda_array_interface__ or DLPack");
    const int type = py::tuple(device())[0].cast<int>();
    if (type != dlpack::cuda && type != dlpack::cuda_managed)
        throw type_error(argument, "is a " + type_name(array) + (type <= dlpack::cuda_host ? " in host memory" : "") +
                                  "; wanted an array of a CUDA GPU, as cupy.asarray makes it");
    return from_dlpack(array, stream());
}

} // namespace fourways
