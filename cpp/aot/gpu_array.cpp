// What gpu_array.hpp promises. From top to bottom: streams; what an array says of itself, by four public interfaces;
// the checks; the launch.

#include "gpu_array.hpp"

#include <algorithm>
#include <cmath>
#include <pybind11/gil_safe_call_once.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

namespace fourways {

std::string text(const Shape &shape) // as Python writes it: (3, 5) or (16,)
{
    std::string list;
    for (const long long extent : shape)
        list += (list.empty() ? "" : ", ") + std::to_string(extent);
    return "(" + list + (shape.size() == 1 ? ",)" : ")");
}

static std::string message(const Argument &argument, const std::string &problem)
{
    return std::string(argument.function) + ": " + argument.name + " " + problem;
}

py::type_error Argument::type_error(const std::string &problem) const
{
    return py::type_error(message(*this, problem));
}

py::value_error Argument::value_error(const std::string &problem) const
{
    return py::value_error(message(*this, problem));
}

std::string Dtype::name() const
{
    const auto letter = std::string("biufcV").find(kind);
    static constexpr const char *names[] = {"bool", "int", "uint", "float", "complex", "void"};
    return letter > 5 ? kind : letter == 0 ? "bool" : names[letter] + std::to_string(8 * bytes);
}

namespace {

std::string type_name(py::handle object)
{
    const auto type = py::type::handle_of(object);
    const std::string module = py::str(type.attr("__module__")), name = py::str(type.attr("__qualname__"));
    return module == "builtins" ? name : module + "." + name;
}

// --- DLPack's C interface, as far as it is read here: https://dmlc.github.io/dlpack/latest/c_api.html ----------------

namespace dlpack {

enum DeviceType : int32_t { cuda = 2, cuda_host = 3, cuda_managed = 13 };
constexpr uint64_t read_only = 1; // a flag

struct Tensor { // DLTensor, with which a capsule "dltensor" begins
    void *data;
    int32_t device_type, device_id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides; // strides in elements; null: C order
    uint64_t byte_offset;
};

struct Versioned { // DLManagedTensorVersioned, in a capsule "dltensor_versioned"
    uint32_t major, minor;
    void *context;
    void (*deleter)(Versioned *);
    uint64_t flags;
    Tensor tensor;
};

// DLPackExchangeAPI, in a capsule "dlpack_exchange_api". Its functions return 0, or set an exception of Python's.
struct Exchange {
    uint32_t major, minor;
    const Exchange *previous; // of an older version, or null
    void *allocate;
    int (*managed)(void *array, Versioned **result); // with flags; its deleter is to be called
    void *to_object;
    int (*tensor)(void *array, Tensor *result); // good while the array lives; may be null
    int (*current_stream)(int32_t device_type, int32_t device_id, void **result);
};

} // namespace dlpack

// --- streams ---------------------------------------------------------------------------------------------------------

// A pointer as int, or a stream with __cuda_stream__ (cuda.core, CuPy), .cuda_stream (PyTorch), .handle (PyCUDA, Numba)
// or .ptr (an older CuPy).
cudaStream_t named_stream(const Argument &argument, py::object stream)
{
    const auto type = type_name(stream);
    if (py::hasattr(stream, "__cuda_stream__"))
        stream = py::tuple(stream.attr("__cuda_stream__")())[1];
    for (const char *name : {"cuda_stream", "handle", "ptr", "value"}) // "value": a handle as ctypes.c_void_p
        if (!PyLong_Check(stream.ptr()) && py::hasattr(stream, name))
            stream = stream.attr(name);
    if (stream.is_none() && type != "NoneType") // ctypes' null pointer
        return nullptr;
    if (!PyLong_Check(stream.ptr()) || PyBool_Check(stream.ptr()))
        throw argument.type_error("is a " + type + "; wanted None, a stream's pointer as int, or a stream of CuPy, "
                                                   "PyCUDA, PyTorch, Numba or cuda.core");
    try {
        return reinterpret_cast<cudaStream_t>(stream.cast<size_t>());
    } catch (const py::cast_error &) {
        throw argument.value_error("is no pointer; wanted one, or 0 for the legacy default stream");
    }
}

// Two names of one stream.
cudaStream_t canonical(cudaStream_t stream) { return stream ? stream : cudaStreamLegacy; }

struct Names { // which every call asks for: made into Python's strings once
    py::str data{"data"}, ptr{"ptr"}, device_id{"device_id"}, dtype{"dtype"}, shape{"shape"}, strides{"strides"};
    py::str module{"__module__"}, exchange{"__dlpack_c_exchange_api__"}, requires_grad{"requires_grad"};
};

const Names &names()
{
    PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<Names> made;
    return made.call_once_and_store_result([] { return Names(); }).get_stored();
}

// CuPy's attributes: what its __cuda_array_interface__ takes three times as long to say.
Description from_cupy(py::handle array)
{
    const Names &name = names();
    const auto numbers = [&](const py::str &attribute) { // in less time than pybind11's caster of sequences takes
        Shape list;
        for (const py::handle number : py::tuple(array.attr(attribute)))
            list.push_back(number.cast<long long>());
        return list;
    };
    const py::object memory = array.attr(name.data);
    const py::dtype dtype = array.attr(name.dtype);
    Description found;
    found.begin = reinterpret_cast<char *>(memory.attr(name.ptr).cast<size_t>());
    found.shape = numbers(name.shape);
    found.strides = numbers(name.strides);
    found.dtype = {std::string(1, dtype.kind()), static_cast<size_t>(dtype.itemsize())};
    found.device = memory.attr(name.device_id).cast<int>();
    found.default_stream = Description::cupys;
    return found;
}

// https://nvidia.github.io/numba-cuda/user/cuda_array_interface.html
Description from_interface(const Argument &argument, const py::dict &interface)
{
    const auto given = [&](const char *key) { return interface.contains(key) && !interface[key].is_none(); };
    const auto [address, read_only] = interface["data"].cast<std::pair<size_t, bool>>();
    const auto typestr = interface["typestr"].cast<std::string>(); // "<f4"
    if (given("mask"))
        throw argument.type_error("has a mask; wanted an array without one");
    Description found;
    found.begin = reinterpret_cast<char *>(address);
    found.shape = interface["shape"].cast<Shape>();
    found.read_only = read_only;
    const bool native = typestr.size() > 2 && (typestr[0] == '<' || typestr[0] == '|');
    found.dtype = {native ? typestr.substr(1, 1) : typestr, native ? std::strtoull(&typestr[2], nullptr, 10) : 0};
    if (given("strides"))
        found.strides = interface["strides"].cast<Shape>();
    const auto stream = std::string(argument.name) + "'s stream";
    if (given("stream"))
        found.producer = named_stream({argument.function, stream.c_str()}, interface["stream"]);
    return found;
}

void check_memory(const Argument &argument, py::handle array, int device_type)
{
    const bool host = device_type <= dlpack::cuda_host;
    if (device_type != dlpack::cuda && device_type != dlpack::cuda_managed)
        throw argument.type_error("is a " + type_name(array) + (host ? " in host memory" : "") +
                                  "; wanted an array of a CUDA GPU, as cupy.asarray makes it");
}

Description from_tensor(const Argument &argument, py::handle array, const dlpack::Tensor &tensor)
{
    check_memory(argument, array, tensor.device_type);
    static constexpr const char *kinds[] = {"i", "u", "f", "V", "bfloat16", "c", "b"};
    const bool known = tensor.code < std::size(kinds) && tensor.lanes == 1;
    Description found;
    found.begin = static_cast<char *>(tensor.data) + tensor.byte_offset;
    found.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
    found.dtype = {known ? kinds[tensor.code] : "that NumPy has not", tensor.bits * tensor.lanes / 8U};
    if (tensor.strides)
        found.strides.emplace(tensor.strides, tensor.strides + tensor.ndim);
    for (int32_t i = 0; tensor.strides && i < tensor.ndim; ++i)
        (*found.strides)[i] *= static_cast<long long>(found.dtype.bytes);
    if (tensor.device_type == dlpack::cuda) // managed memory is on every GPU
        found.device = tensor.device_id;
    return found;
}

// By the C functions of the array's type, such as PyTorch's.
Description from_exchange(const Argument &argument, py::handle array, bool writable, const dlpack::Exchange &api)
{
    dlpack::Tensor tensor{};
    dlpack::Versioned *managed = nullptr;
    void *stream = nullptr;
    const bool flags = writable || !api.tensor; // only api.managed tells what is read-only
    bool failed = flags ? api.managed(array.ptr(), &managed) : api.tensor(array.ptr(), &tensor);
    const std::shared_ptr<dlpack::Versioned> owner(managed, [](dlpack::Versioned *given) {
        if (given && given->deleter)
            given->deleter(given);
    });
    Description found;
    if (!failed) {
        found = from_tensor(argument, array, managed ? managed->tensor : tensor);
        failed = api.current_stream(dlpack::cuda, found.device.value_or(0), &stream);
    }
    if (failed) {
        const std::string told = py::str(py::error_already_set().value());
        throw argument.type_error("is a " + type_name(array) + " that DLPack cannot describe: " +
                                  told.substr(0, told.find('\n'))); // PyTorch goes on with a backtrace
    }
    if (py::getattr(array, names().requires_grad, py::none()).ptr() == Py_True)
        throw argument.value_error("requires a gradient, which would know nothing of the kernel; wanted x.detach()");
    if (found.dtype.kind == "c" && py::hasattr(array, "is_conj") && array.attr("is_conj")().cast<bool>())
        throw argument.value_error("is conjugated, but its memory is not; wanted x.resolve_conj()");
    found.read_only = managed && managed->flags & dlpack::read_only;
    found.producer = static_cast<cudaStream_t>(stream);
    found.default_stream = Description::producers;
    found.owner = owner;
    return found;
}

// By __dlpack__, which is told the legacy default stream, 1: launch() waits for that.
Description from_dlpack(const Argument &argument, py::handle array)
{
    check_memory(argument, array, array.attr("__dlpack_device__")().cast<std::pair<int, int>>().first);
    const auto capsule = std::make_shared<py::object>(
        array.attr("__dlpack__")("stream"_a = 1, "max_version"_a = py::make_tuple(1, 0)));
    Description found;
    if (PyCapsule_IsValid(capsule->ptr(), "dltensor_versioned")) {
        const auto *const managed = py::capsule(*capsule).get_pointer<dlpack::Versioned>();
        if (managed->major != 1)
            throw argument.type_error("speaks DLPack " + std::to_string(managed->major) + "; wanted version 1");
        found = from_tensor(argument, array, managed->tensor);
        found.read_only = managed->flags & dlpack::read_only;
    } else if (PyCapsule_IsValid(capsule->ptr(), "dltensor"))
        found = from_tensor(argument, array, *py::capsule(*capsule).get_pointer<dlpack::Tensor>());
    else
        throw argument.type_error("gave a " + type_name(*capsule) + " of __dlpack__; wanted a capsule of DLPack");
    found.producer = cudaStreamLegacy;
    found.owner = capsule;
    return found;
}

py::object attribute_or_none(py::handle object, const char *name) // other errors of its code pass through
{
    try {
        return object.attr(name);
    } catch (py::error_already_set &error) {
        if (!error.matches(PyExc_AttributeError))
            throw;
        return py::none();
    }
}

Description describe(const Argument &argument, py::handle array, bool writable)
{
    const auto type = py::type::handle_of(array);
    const py::object module = type.attr(names().module);
    if (PyUnicode_Check(module.ptr()) && PyUnicode_CompareWithASCIIString(module.ptr(), "cupy") == 0)
        return from_cupy(array);
    const py::object capsule = py::getattr(type, names().exchange, py::none());
    if (PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) {
        const auto *api = py::capsule(capsule).get_pointer<dlpack::Exchange>();
        while (api && api->major != 1)
            api = api->previous;
        if (api)
            return from_exchange(argument, array, writable, *api);
    }
    const py::object interface = attribute_or_none(array, "__cuda_array_interface__");
    try {
        if (!interface.is_none())
            return from_interface(argument, interface);
    } catch (const std::exception &error) {
        throw argument.type_error("has a broken __cuda_array_interface__: " + std::string(error.what()));
    }
    if (!py::hasattr(array, "__dlpack__") || !py::hasattr(array, "__dlpack_device__"))
        throw argument.type_error("is a " + type_name(array) +
                                  "; wanted a GPU array, with __cuda_array_interface__ or DLPack");
    return from_dlpack(argument, array);
}

} // namespace

// --- the checks ------------------------------------------------------------------------------------------------------

GpuMemory::GpuMemory(Argument of, py::handle array, bool writable, Dtype wanted, size_t alignment)
    : Description(describe(of, array, writable)), argument(of)
{
    if (dtype.bytes != wanted.bytes || (wanted.kind != "V" && dtype.kind != wanted.kind))
        throw argument.type_error("has dtype " + dtype.name() + "; wanted " +
                                  (wanted.kind == "V" ? std::to_string(wanted.bytes) + " bytes each" : wanted.name()));
    if (strides && strides->size() != shape.size())
        throw argument.type_error("has " + std::to_string(strides->size()) + " strides and " +
                                  std::to_string(shape.size()) + " dimensions; wanted one for each");
    bool gapless = true;
    for (size_t i = shape.size(); i-- > 0;) {
        gapless &= !strides || shape[i] == 1 || (*strides)[i] == size * static_cast<long long>(wanted.bytes);
        if (shape[i] < 0 || __builtin_mul_overflow(size, shape[i], &size))
            throw argument.value_error("has shape " + text(shape) + "; wanted extents from 0 up");
    }
    if (size > 0 && !gapless)
        throw argument.value_error("has shape " + text(shape) + " and strides " + text(*strides) +
                                   "; wanted C order without gaps, as cupy.ascontiguousarray makes it");
    const auto address = reinterpret_cast<size_t>(begin);
    if (size > 0 && (address == 0 || address % alignment != 0))
        throw argument.value_error("starts at address " + std::to_string(address) + "; wanted a multiple of " +
                                   std::to_string(alignment) + ", and not 0");
    if (writable && read_only)
        throw argument.value_error("is read-only; wanted a writable array, because the kernel writes it");
    end = begin + size * wanted.bytes;
}

void has_dimensions(const GpuMemory &array, size_t wanted, const std::string &which)
{
    static constexpr const char *words[] = {"no dimensions", "one dimension", "two dimensions", "three dimensions"};
    if (array.shape.size() != wanted)
        throw array.argument.value_error(
            "has shape " + text(array.shape) + "; wanted " +
            (wanted < std::size(words) ? words[wanted] : std::to_string(wanted) + " dimensions") + ", " + which);
}

void has_shape(const GpuMemory &array, const Shape &wanted, const std::string &why)
{
    if (array.shape != wanted)
        throw array.argument.value_error("has shape " + text(array.shape) + "; wanted " + text(wanted) + ", " + why);
}

void same_shape(const GpuMemory &a, const GpuMemory &b)
{
    has_shape(b, a.shape, std::string("the shape of ") + a.argument.name);
}

void no_overlap(const GpuMemory &a, const GpuMemory &b)
{
    if (a.size > 0 && b.size > 0 && a.begin < b.end && b.begin < a.end)
        throw b.argument.value_error(std::string("shares memory with ") + a.argument.name +
                                     "; wanted separate arrays, because the kernel's pointers are __restrict__");
}

float as_float(const char *function, const char *name, double number)
{
    const auto narrow = static_cast<float>(number);
    if (std::isfinite(number) && !std::isfinite(narrow))
        throw Argument{function, name}.value_error("is " + std::string(py::repr(py::float_(number))) +
                                                   "; wanted a number within float32's range");
    return narrow;
}

// --- the launch ------------------------------------------------------------------------------------------------------

namespace {

void check(const char *function, cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    cudaGetLastError(); // or the next launch would find this one's
    const bool machine = error == cudaErrorInsufficientDriver || error == cudaErrorNoDevice;
    const bool build = error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion;
    throw std::runtime_error(std::string(function) + ": " + cudaGetErrorName(error) + ": " + cudaGetErrorString(error) +
                             (machine ? " (it needs an NVIDIA GPU and a driver as new as this build's CUDA)" : "") +
                             (build ? " (there is no code for this GPU inside: build it again on this machine)" : ""));
}

void check_device(const GpuMemory &array, int current)
{
    cudaPointerAttributes memory{};
    memory.type = cudaMemoryTypeDevice;
    memory.device = array.device.value_or(current);
    if (!array.device)
        check(array.argument.function, cudaPointerGetAttributes(&memory, array.begin));
    if (memory.type == cudaMemoryTypeHost || memory.type == cudaMemoryTypeUnregistered)
        throw array.argument.type_error("is in host memory; wanted an array of a GPU, as cupy.asarray makes it");
    if (memory.type == cudaMemoryTypeDevice && memory.device != current)
        throw array.argument.value_error("is on GPU " + std::to_string(memory.device) + "; wanted GPU " +
                                         std::to_string(current) + ", the current one");
}

// The current stream of CuPy, if an array is CuPy's; else of the first library that says which; else the legacy one.
cudaStream_t default_stream(const std::vector<const GpuMemory *> &arrays)
{
    PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<py::object> cupys;
    const auto find = [] { return py::module_::import("cupy").attr("cuda").attr("get_current_stream"); };
    for (const GpuMemory *array : arrays)
        if (array->default_stream == Description::cupys)
            return reinterpret_cast<cudaStream_t>(
                cupys.call_once_and_store_result(find).get_stored()().attr(names().ptr).cast<size_t>());
    for (const GpuMemory *array : arrays)
        if (array->default_stream == Description::producers)
            return *array->producer;
    return nullptr;
}

cudaError_t wait(cudaStream_t on, cudaStream_t producer)
{
    cudaEvent_t ready;
    if (const cudaError_t error = cudaEventCreateWithFlags(&ready, cudaEventDisableTiming))
        return error;
    cudaError_t error = cudaEventRecord(ready, producer);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(on, ready, 0);
    cudaEventDestroy(ready);
    return error;
}

} // namespace

void launch(const char *function, const py::object &stream, const std::vector<const GpuMemory *> &arrays,
            const std::function<cudaError_t(cudaStream_t)> &start)
{
    cudaStream_t on = stream.is_none() ? nullptr : named_stream({function, "stream"}, stream);
    int current = 0;
    check(function, cudaGetDevice(&current)); // the first thing asked of CUDA: a machine without a driver is found out
    for (const GpuMemory *array : arrays)
        if (array->size > 0)
            check_device(*array, current);
    if (stream.is_none())
        on = default_stream(arrays);
    py::gil_scoped_release released; // the launch blocks while CUDA's queue is full
    std::vector<cudaStream_t> awaited{canonical(on)};
    for (const GpuMemory *array : arrays) {
        const cudaStream_t producer = canonical(array->producer.value_or(on));
        if (array->size == 0 || std::find(awaited.begin(), awaited.end(), producer) != awaited.end())
            continue;
        check(function, wait(on, producer));
        awaited.push_back(producer);
    }
    check(function, start(on));
}

} // namespace fourways
