// What an array of any GPU library says about itself, unchecked.
//
// __cuda_array_interface__: https://nvidia.github.io/numba-cuda/user/cuda_array_interface.html (version 3)
// DLPack: https://dmlc.github.io/dlpack/latest/python_spec.html
#pragma once

#include "dlpack.hpp"
#include "python_stream.hpp"

#include <memory>
#include <vector>

namespace fourways {

using Integers = std::vector<long long>;

struct Described {
    size_t address = 0;
    Integers shape;
    std::optional<Integers> strides; // in bytes; none: C-contiguous
    py::object dtype;                // a NumPy dtype or a type string; null: it is the next
    dlpack::DataType type{};
    bool read_only = false;
    int device = unknown;
    enum { other, cupy, exchange } library = other; // the last two know a current stream
    std::optional<cudaStream_t> producer;           // has work on the array to be waited for
    py::object capsule;                             // this and the next must live until the launch
    std::unique_ptr<dlpack::ManagedVersioned, dlpack::GiveBack> managed;
    static constexpr int unknown = -1, any = -2;
};

// CuPy's own __cuda_array_interface__ takes as long as a launch; the attributes behind it do not.
inline Described from_cupy(py::handle array)
{
    static const Name data("data"), ptr("ptr"), device_id("device_id"), shape("shape"), strides("strides"),
        dtype("dtype"), ndim("ndim"), size("size"), c_contiguous("_c_contiguous");
    const auto integers = [](const py::object &tuple) {
        Integers list(PyTuple_Size(tuple.ptr()));
        for (size_t i = 0; i < list.size(); ++i)
            list[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple.ptr(), i));
        return list;
    };
    const auto memory = data.field_of(array);
    Described found;
    found.address = PyLong_AsSize_t(ptr.field_of(memory).ptr());
    if (PyLong_AsLong(ndim.field_of(array).ptr()) == 1) // the tuple is made anew each time, much slower than its number
        found.shape.assign(1, PyLong_AsLongLong(size.field_of(array).ptr()));
    else
        found.shape = integers(shape.field_of(array));
    found.dtype = dtype.field_of(array);
    found.device = static_cast<int>(PyLong_AsLong(device_id.field_of(memory).ptr()));
    found.library = Described::cupy;
    const bool gapless = c_contiguous.in_type_of(array) && c_contiguous.field_of(array).ptr() == Py_True;
    if (!gapless) // that is no public name, but much quicker than the strides
        found.strides = integers(strides.of(array));
    return found;
}

inline Described from_interface(const Argument &argument, const py::dict &interface)
{
    static const Name data("data"), shape("shape"), strides("strides"), stream("stream"), typestr("typestr"),
        version("version"), mask("mask");
    const auto entry = [&](const Name &key) {
        PyObject *const value = PyDict_GetItemWithError(interface.ptr(), key.ptr());
        return py::handle(value ? value : Py_None);
    };
    const auto wanted = [](const Name &key, const std::string &came, const char *wanted) {
        return py::value_error("its " + text(key.ptr()) + came + "; wanted " + wanted);
    };
    const auto number = [&](const Name &key, py::handle value) { // of Python or NumPy
        const auto whole = PyBool_Check(value.ptr()) ? std::nullopt : int64(value);
        if (!whole)
            throw wanted(key, " holds " + text(py::repr(value)), "whole numbers within int64's range");
        return *whole;
    };
    const auto numbers = [&](const Name &key) {
        const auto tuple = entry(key);
        if (!PyTuple_Check(tuple.ptr()))
            throw wanted(key, " is a " + type_name(tuple), "a tuple");
        Integers list;
        list.reserve(PyTuple_GET_SIZE(tuple.ptr()));
        for (const auto value : py::reinterpret_borrow<py::tuple>(tuple))
            list.push_back(number(key, value));
        return list;
    };
    const auto pair = entry(data), type = entry(typestr);
    if (!PyTuple_Check(pair.ptr()) || PyTuple_GET_SIZE(pair.ptr()) != 2)
        throw wanted(data, " is " + text(py::repr(pair)), "a pair, the address and whether it is read-only");
    if (!PyUnicode_Check(type.ptr()))
        throw wanted(typestr, " is a " + type_name(type), "a str");
    if (number(version, entry(version)) < 0) // 0 to 3 differ in nothing else that is read here
        throw wanted(version, " is negative", "3");
    if (!entry(mask).is_none())
        throw wanted(mask, " is there", "None");
    Described found;
    const py::handle address = PyTuple_GET_ITEM(pair.ptr(), 0);
    found.address = address.is_none() ? 0 : static_cast<size_t>(number(data, address));
    found.read_only = PyObject_IsTrue(PyTuple_GET_ITEM(pair.ptr(), 1));
    found.shape = numbers(shape);
    found.dtype = py::reinterpret_borrow<py::object>(type);
    if (!entry(strides).is_none())
        found.strides = numbers(strides);
    if (found.strides && found.strides->size() != found.shape.size())
        throw wanted(strides, " and its shape differ in length", "a number of bytes for each extent");
    const auto streams_name = std::string(argument.name) + "'s stream";
    if (const auto producer = entry(stream); !producer.is_none())
        found.producer = named_stream(producer, {argument.kernel, streams_name.c_str()});
    return found;
}

inline Described from_tensor(const dlpack::Tensor &tensor)
{
    Described found;
    found.address = reinterpret_cast<size_t>(tensor.data) + tensor.byte_offset;
    found.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
    found.type = tensor.dtype;
    found.device = tensor.device.type == dlpack::cuda ? tensor.device.id : Described::any;
    if (tensor.strides) {
        found.strides.emplace(tensor.strides, tensor.strides + tensor.ndim);
        for (long long &stride : *found.strides)
            stride *= tensor.dtype.bits * tensor.dtype.lanes / 8;
    }
    return found;
}

inline void check_memory(const Argument &argument, py::handle array, int device_type)
{
    if (device_type != dlpack::cuda && device_type != dlpack::cuda_managed)
        throw type_error(argument, "is a " + type_name(array) +
                                       (device_type <= dlpack::cuda_host ? " in host memory" : "") +
                                       "; wanted an array of a CUDA GPU, as cupy.asarray makes it");
}

// The producer makes the data ready for the stream `on`. Its capsule stays the owner.
inline Described from_dlpack(const Argument &argument, py::handle array, cudaStream_t on)
{
    static const Name dlpack("__dlpack__");
    const auto stream = py::int_(reinterpret_cast<size_t>(canonical(on)));
    py::object capsule;
    try {
        capsule = dlpack.of(array)("stream"_a = stream, "max_version"_a = py::make_tuple(dlpack::major, 0));
    } catch (py::error_already_set &error) {
        if (!error.matches(PyExc_TypeError)) // a producer older than DLPack 1.0 takes no max_version
            throw;
        capsule = dlpack.of(array)("stream"_a = stream);
    }
    Described found;
    if (PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
        const void *const managed = PyCapsule_GetPointer(capsule.ptr(), "dltensor");
        found = from_tensor(static_cast<const dlpack::Managed *>(managed)->tensor);
    } else if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
        const void *const content = PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned");
        const auto &managed = *static_cast<const dlpack::ManagedVersioned *>(content);
        if (managed.major != dlpack::major)
            throw type_error(argument, "speaks DLPack " + std::to_string(managed.major) + "; wanted version 1");
        found = from_tensor(managed.tensor);
        found.read_only = managed.flags & dlpack::read_only;
    } else
        throw type_error(argument, "gave a " + type_name(capsule) + " of __dlpack__; wanted a capsule of DLPack");
    found.capsule = std::move(capsule);
    return found;
}

// The C functions of the array's type, if it has any of a version that dlpack.hpp declares.
inline const dlpack::Exchange *exchange_of(py::handle array)
{
    static const Name name("__dlpack_c_exchange_api__");
    static constexpr auto type = "dlpack_exchange_api";
    const auto capsule = name.in_type_of(array);
    if (!capsule || !PyCapsule_IsValid(capsule.ptr(), type))
        return nullptr;
    const auto *table = static_cast<const dlpack::Exchange *>(PyCapsule_GetPointer(capsule.ptr(), type));
    while (table && table->major != dlpack::major)
        table = table->previous;
    return table;
}

// What those functions leave out, and PyTorch's __dlpack__ refuses.
inline void check_autograd(const Argument &argument, py::handle array, dlpack::DataType type)
{
    static const Name requires_grad("requires_grad"), is_conj("is_conj");
    static constexpr int complex = 5;
    if (requires_grad.in_type_of(array) && requires_grad.field_of(array).ptr() == Py_True)
        throw argument.value_error("requires a gradient, which would know nothing of the kernel; wanted x.detach()");
    if (type.code == complex && is_conj.in_type_of(array) && is_conj.of(array)().ptr() == Py_True)
        throw argument.value_error("is conjugated, but its memory is not; wanted x.resolve_conj()");
}

inline Described from_exchange(const Argument &argument, py::handle array, bool writable, const dlpack::Exchange &table)
{
    std::unique_ptr<dlpack::ManagedVersioned, dlpack::GiveBack> managed;
    dlpack::Tensor tensor{};
    void *stream = nullptr;
    int failed;
    if (writable || !table.tensor) { // only this one tells what is read-only
        dlpack::ManagedVersioned *made = nullptr;
        failed = table.managed(array.ptr(), &made);
        managed.reset(made);
        if (managed)
            tensor = managed->tensor;
    } else
        failed = table.tensor(array.ptr(), &tensor);
    if (!failed) {
        check_memory(argument, array, tensor.device.type);
        failed = table.current_stream(tensor.device.type, tensor.device.id, &stream);
    }
    if (failed) {
        const py::error_already_set error;
        const auto message = text(error.value());
        throw type_error(argument, "is a " + type_name(array) + " that DLPack cannot describe: " +
                                       message.substr(0, message.find('\n'))); // PyTorch's go on with a backtrace
    }
    check_autograd(argument, array, tensor.dtype);
    Described found = from_tensor(tensor);
    found.library = Described::exchange;
    found.producer = static_cast<cudaStream_t>(stream);
    found.read_only = managed && managed->flags & dlpack::read_only;
    found.managed = std::move(managed);
    return found;
}

// stream() -> cudaStream_t is called for __dlpack__ only, which needs to know where the kernel will run.
template <class Stream> Described describe(const Argument &argument, py::handle array, bool writable, Stream &&stream)
{
    static const Name interface("__cuda_array_interface__"), dlpack_device("__dlpack_device__");
    const CuPy *const library = cupy();
    if (library && reinterpret_cast<PyObject *>(Py_TYPE(array.ptr())) == library->ndarray)
        return from_cupy(array);
    if (const auto *const table = exchange_of(array))
        return from_exchange(argument, array, writable, *table);
    if (const auto described = interface.if_any(array)) {
        try {
            return from_interface(argument, py::dict(described));
        } catch (const std::exception &error) {
            throw type_error(argument, "has a broken __cuda_array_interface__: " + std::string(error.what()));
        }
    }
    const auto device = dlpack_device.if_any(array);
    if (!device)
        throw type_error(argument, "is a " + type_name(array) +
                                       "; wanted a GPU array, with __cuda_array_interface__ or DLPack");
    const py::object pair = device();
    const auto type = PyTuple_Check(pair.ptr()) && py::len(pair) == 2 ? int64(pair[py::int_(0)]) : std::nullopt;
    if (!type)
        throw type_error(argument, "gave " + text(py::repr(pair)) + " as __dlpack_device__; wanted two ints");
    check_memory(argument, array, static_cast<int>(*type));
    return from_dlpack(argument, array, stream());
}

} // namespace fourways
