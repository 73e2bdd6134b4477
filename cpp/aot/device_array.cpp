// def() and Call: all that bindings need of pybind11, compiled once.

#include "device_array.hpp"

#include "array_protocols.hpp"
#include "cuda_error.hpp"

#include <cmath>
#include <string_view>
#include <utility>

namespace fourways {

struct Call::Given {
    const char *kernel; // starts every message
    const std::vector<const char *> &names;
    const py::handle *objects; // as many
    std::optional<cudaStream_t> stream;
    std::vector<std::pair<Argument, Described>> arrays; // those with elements
    py::object result = py::none();

    py::handle operator[](const char *name) const
    {
        for (size_t i = 0; i < names.size(); ++i)
            if (std::string_view(names[i]) == name)
                return objects[i];
        throw std::logic_error(std::string(kernel) + " has no argument " + name);
    }

    cudaStream_t on()
    {
        if (!stream)
            stream = current_stream();
        return *stream;
    }
};

namespace {

// Everything in CUDA that may block: loading the driver, creating the context, a full launch queue.
template <class Work> cudaError_t without_gil(Work &&work)
{
    py::gil_scoped_release released;
    return work();
}

// The first question to CUDA: a machine without a driver is found out here.
int current_device(const char *kernel)
{
    int device = 0;
    check(without_gil([&] { return cudaGetDevice(&device); }), kernel);
    return device;
}

cudaError_t wait(cudaStream_t on, cudaStream_t producer)
{
    cudaEvent_t ready;
    cudaError_t error = cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
    if (error != cudaSuccess)
        return error;
    error = cudaEventRecord(ready, producer);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(on, ready, 0);
    cudaEventDestroy(ready);
    return error;
}

void check_device(const Argument &argument, const Described &array, int current)
{
    int device = array.device;
    if (device == Described::unknown) {
        cudaPointerAttributes memory{};
        const auto *const address = reinterpret_cast<const void *>(array.address);
        check(without_gil([&] { return cudaPointerGetAttributes(&memory, address); }), argument.kernel);
        if (memory.type == cudaMemoryTypeHost || memory.type == cudaMemoryTypeUnregistered)
            throw type_error(argument, "is in host memory; wanted an array of a GPU, as cupy.asarray makes it");
        device = memory.type == cudaMemoryTypeManaged ? Described::any : memory.device;
    }
    if (device != Described::any && device != current)
        throw argument.value_error("is on GPU " + std::to_string(device) + "; wanted GPU " + std::to_string(current) +
                                   ", the current one");
}

// The extents of an array without gaps, and the number of its elements.
std::pair<Shape, long long> checked_shape(const Argument &argument, const Described &array, size_t item)
{
    const auto strides = array.strides.is_none() ? py::tuple() : py::tuple(array.strides);
    Shape shape(array.shape.size());
    long long size = 1;
    bool contiguous = true;
    for (size_t i = shape.size(); i-- > 0;) {
        shape[i] = integer(array.shape[i]);
        if (!array.strides.is_none() && shape[i] != 1)
            contiguous &= integer(strides[i]) == size * static_cast<long long>(item);
        if (shape[i] < 0 || __builtin_mul_overflow(size, shape[i], &size))
            throw argument.value_error("has shape " + text(array.shape) + "; wanted extents from 0 up");
    }
    if (size > 0 && !contiguous)
        throw argument.value_error("has shape " + text(array.shape) + " and strides " + text(array.strides) +
                                   "; wanted C order without gaps, as cupy.ascontiguousarray makes it");
    if (size > 0 && (array.address == 0 || array.address % item != 0))
        throw argument.value_error("starts at address " + std::to_string(array.address) + "; wanted a multiple of " +
                                   std::to_string(item) + ", and not 0");
    return {std::move(shape), size};
}

py::object numpy_dtype(py::handle type)
{
    return py::module_::import("numpy").attr("dtype")(type);
}

// NumPy's dtype object of an element type, made once.
py::handle numpy_dtype(const Element &element)
{
    static std::vector<std::pair<const Element *, py::handle>> made; // for the life of the process
    for (const auto &[one, dtype] : made)
        if (one == &element)
            return dtype;
    return made.emplace_back(&element, numpy_dtype(py::str(element.name)).release()).second;
}

// float64 rather than <f8.
std::string dtype_name(const py::object &dtype)
{
    try {
        return text(numpy_dtype(dtype));
    } catch (py::error_already_set &) { // not a type of NumPy's
        return text(dtype);
    }
}

// A function of the module: what def() was told.
struct Function {
    const char *name;
    std::vector<const char *> arguments;
    std::function<void(Call &)> body;

    py::object operator()(const py::handle *objects, py::handle stream) const
    {
        Call::Given given{name, arguments, objects, {}, {}, py::none()};
        given.arrays.reserve(arguments.size()); // one allocation
        if (!stream.is_none())
            given.stream = named_stream(stream, {name, "stream"});
        Call call(given);
        body(call);
        return given.result;
    }
};

template <size_t> using Object = py::handle;

// m.def for as many objects as there are numbers i, and a stream.
template <size_t... i>
void add(py::module_ &m, const Function &function, const char *doc, std::index_sequence<i...>)
{
    m.def(
        function.name,
        [=](Object<i>... objects, py::handle stream) {
            const py::handle list[] = {objects...};
            return function(list, stream);
        },
        py::arg(function.arguments[i])..., "stream"_a = py::none(), doc);
}

} // namespace

std::string text(const Shape &shape)
{
    std::string list;
    for (const long long extent : shape)
        list += (list.empty() ? "" : ", ") + std::to_string(extent);
    return "(" + list + (shape.size() == 1 ? ",)" : ")");
}

Array Call::checked(const char *name, bool writable, const Element &element)
{
    const Argument argument{given_.kernel, name};
    Described found = describe(argument, given_[name], [&] { return current_device(given_.kernel), given_.on(); });
    if (!found.dtype.is(numpy_dtype(element)) && !found.dtype.equal(py::str(element.typestr)))
        throw type_error(argument, "has dtype " + dtype_name(found.dtype) + "; wanted " + element.name);
    auto [shape, size] = checked_shape(argument, found, element.size);
    if (writable && found.read_only)
        throw argument.value_error("is read-only; wanted a writable array, because the kernel writes it");
    auto *const begin = reinterpret_cast<char *>(found.address);
    if (size > 0)
        given_.arrays.emplace_back(argument, std::move(found));
    return {argument, begin, begin + size * element.size, size, std::move(shape)};
}

float Call::number(const char *name) const
{
    const Argument argument{given_.kernel, name};
    const py::handle object = given_[name];
    const double value = PyFloat_AsDouble(object.ptr());
    if (value == -1 && PyErr_ExceptionMatches(PyExc_TypeError))
        throw type_error(argument, "is a " + type_name(object) + "; wanted a number");
    if (PyErr_Occurred())
        throw py::error_already_set();
    const auto rounded = static_cast<float>(value);
    if (std::isinf(rounded) && !std::isinf(value))
        throw argument.value_error("is " + text(object) + "; wanted a number within float32's range");
    return rounded;
}

long long Call::integer(const char *name) const
{
    const Argument argument{given_.kernel, name};
    const py::handle object = given_[name];
    const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
    if (!index && PyErr_ExceptionMatches(PyExc_TypeError))
        throw type_error(argument, "is a " + type_name(object) + "; wanted a whole number");
    if (!index)
        throw py::error_already_set();
    int beyond = 0;
    const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &beyond);
    if (beyond)
        throw argument.value_error("is " + text(index) + "; wanted a number within int64's range");
    return value;
}

void Call::same_shape(const Array &a, const Array &b) const
{
    if (a.shape != b.shape)
        throw b.argument.value_error("has shape " + text(b.shape) + "; wanted " + text(a.shape) + ", the shape of " +
                                     a.argument.name);
}

void Call::no_overlap(const Array &a, const Array &b) const
{
    if (a.size > 0 && b.size > 0 && a.begin < b.end && b.begin < a.end)
        throw b.argument.value_error(std::string("shares memory with ") + a.argument.name +
                                     "; wanted separate arrays, because the kernel's pointers are __restrict__");
}

void Call::queue(cudaError_t (*start)(const void *, cudaStream_t), const void *data)
{
    const int current = current_device(given_.kernel);
    for (const auto &[argument, array] : given_.arrays)
        check_device(argument, array, current);
    const cudaStream_t on = given_.on();
    check(without_gil([&] {
              for (const auto &[argument, array] : given_.arrays)
                  if (array.producer && canonical(*array.producer) != canonical(on))
                      if (const cudaError_t error = wait(on, *array.producer))
                          return error;
              return start(data, on);
          }),
          given_.kernel);
}

void Call::returns(const char *name)
{
    given_.result = py::reinterpret_borrow<py::object>(given_[name]);
}

void def(py::module_ &m, const char *name, const std::vector<const char *> &arguments,
         const std::function<void(Call &)> &body, const char *doc)
{
    const Function function{name, arguments, body};
    switch (arguments.size()) {
    case 1: return add(m, function, doc, std::make_index_sequence<1>());
    case 2: return add(m, function, doc, std::make_index_sequence<2>());
    case 3: return add(m, function, doc, std::make_index_sequence<3>());
    case 4: return add(m, function, doc, std::make_index_sequence<4>());
    case 5: return add(m, function, doc, std::make_index_sequence<5>());
    case 6: return add(m, function, doc, std::make_index_sequence<6>());
    default: throw std::logic_error(std::string(name) + ": def() takes 1 to 6 arguments, beside the stream");
    }
}

} // namespace fourways
