// def() and Call: all that bindings need of pybind11, compiled once.

#include "device_array.hpp"

#include "cuda_error.hpp"
#include "dtypes.hpp"
#include "python_function.hpp"
#include "python_numbers.hpp"

namespace fourways {

struct Call::Given {
    const Signature &signature;
    const Objects objects;
    std::optional<cudaStream_t> stream;
    std::vector<std::pair<Argument, Described>> arrays{}; // those with elements
    py::object result = py::none();

    const char *kernel() const { return signature.function.c_str(); } // starts every message

    py::handle operator[](const char *name) const
    {
        const auto &names = signature.arguments;
        auto found = std::find(names.begin(), names.end(), name); // mostly the very same literal
        if (found == names.end())
            found = std::find_if(names.begin(), names.end(), [=](std::string_view each) { return each == name; });
        if (found != names.end())
            return objects[found - names.begin()];
        throw std::logic_error(std::string(kernel()) + " has no argument " + name);
    }

    // Where nobody named one: the current stream of CuPy if an array is its, else of the first array's library that
    // tells one, else CuPy's again, if somebody uses it.
    cudaStream_t on()
    {
        const Described *first = nullptr;
        bool cupys = false;
        for (const auto &[argument, array] : arrays) {
            cupys |= array.library == Described::cupy;
            if (!first && array.library == Described::exchange)
                first = &array;
        }
        if (!stream)
            stream = first && !cupys ? *first->producer : current_stream();
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
    static bool driver_is_there = false; // loading it takes long; to ask it again does not
    int device = 0;
    const auto ask = [&] { return cudaGetDevice(&device); };
    check(driver_is_there ? ask() : without_gil(ask), kernel);
    driver_is_there = true;
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

// The number of elements of an array without gaps, in C order.
long long checked_size(const Argument &argument, const Described &array, size_t item, size_t alignment)
{
    const auto &shape = array.shape;
    long long size = 1;
    bool contiguous = true;
    for (size_t i = shape.size(); i-- > 0;) {
        if (array.strides && shape[i] != 1)
            contiguous &= (*array.strides)[i] == size * static_cast<long long>(item);
        if (shape[i] < 0 || __builtin_mul_overflow(size, shape[i], &size))
            throw argument.value_error("has shape " + text(shape) + "; wanted extents from 0 up");
    }
    if (size > 0 && !contiguous)
        throw argument.value_error("has shape " + text(shape) + " and strides " + text(*array.strides) +
                                   "; wanted C order without gaps, as cupy.ascontiguousarray makes it");
    if (size > 0 && (array.address == 0 || array.address % alignment != 0))
        throw argument.value_error("starts at address " + std::to_string(array.address) + "; wanted a multiple of " +
                                   std::to_string(alignment) + ", and not 0");
    return size;
}

struct Function { // what def() was told
    Signature signature;
    std::function<void(Call &)> body;
    std::string doc;
    PyMethodDef method{};
};

// What Python calls. pybind11's own m.def compiles one of these for each number of arguments.
PyObject *call(PyObject *capsule, PyObject *const *given, Py_ssize_t count, PyObject *keywords)
{
    try {
        const auto &[signature, body, doc, method] =
            *static_cast<const Function *>(PyCapsule_GetPointer(capsule, nullptr));
        Call::Given all{signature, signature.objects(given, static_cast<size_t>(count), keywords), {}};
        PyObject *const stream = all.objects[signature.arguments.size()];
        if (stream && stream != Py_None)
            all.stream = named_stream(stream, {all.kernel(), "stream"});
        all.arrays.reserve(signature.arguments.size()); // one allocation
        Call call(all);
        body(call);
        return all.result.release().ptr();
    } catch (...) {
        return raised();
    }
}

} // namespace

std::string text(const Shape &shape)
{
    std::string list;
    for (const long long extent : shape)
        list += (list.empty() ? "" : ", ") + std::to_string(extent);
    return "(" + list + (shape.size() == 1 ? ",)" : ")");
}

Array Call::checked(const char *name, bool writable, const Element &element, size_t alignment)
{
    const Argument argument{given_.kernel(), name};
    const auto stream = [&] { return current_device(argument.kernel), given_.on(); };
    Described found = describe(argument, given_[name], writable, stream);
    if (!has_dtype(found, element))
        throw type_error(argument, "has dtype " + dtype_name(found, element) + "; wanted " +
                                       (*element.name ? element.name : std::to_string(element.size) + " bytes each"));
    const long long size = checked_size(argument, found, element.size, alignment);
    if (writable && found.read_only)
        throw argument.value_error("is read-only; wanted a writable array, because the kernel writes it");
    auto *const begin = reinterpret_cast<char *>(found.address);
    Array array{argument, begin, begin + size * element.size, size, std::move(found.shape)};
    if (size > 0)
        given_.arrays.emplace_back(argument, std::move(found));
    return array;
}

unsigned long long Call::whole(const char *name, const Element &element, long long least, unsigned long long most) const
{
    return whole_number({given_.kernel(), name}, given_[name], element, least, most);
}

double Call::real(const char *name, const Element &element) const
{
    return real_number({given_.kernel(), name}, given_[name], element);
}

double2 Call::complex(const char *name, const Element &element) const
{
    return complex_number({given_.kernel(), name}, given_[name], element);
}

void Call::bytes(const char *name, void *copy, size_t size) const
{
    copy_bytes({given_.kernel(), name}, given_[name], copy, size);
}

dim3 Call::extent(const char *name) const
{
    return extents({given_.kernel(), name}, given_[name]);
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
    const int current = current_device(given_.kernel());
    for (const auto &[argument, array] : given_.arrays)
        check_device(argument, array, current);
    const cudaStream_t on = given_.on();
    check(without_gil([&] {
              cudaStream_t waited_for = canonical(on);
              for (const auto &[argument, array] : given_.arrays) {
                  const cudaStream_t producer = canonical(array.producer.value_or(on));
                  if (producer == canonical(on) || producer == waited_for)
                      continue;
                  if (const cudaError_t error = wait(on, *array.producer))
                      return error;
                  waited_for = producer;
              }
              return start(data, on);
          }),
          given_.kernel());
}

void Call::returns(const char *name)
{
    given_.result = py::reinterpret_borrow<py::object>(given_[name]);
}

void def(py::module_ &m, const char *name, const std::vector<const char *> &arguments,
         const std::function<void(Call &)> &body, const char *doc)
{
    if (arguments.size() > most_arguments)
        throw std::logic_error(std::string(name) + ": def() takes 16 arguments at most, beside the stream");
    auto *const function = new Function{{name, arguments}, body, {}}; // for the life of the process, as the module
    function->doc = function->signature.text() + "\n--\n\n" + doc; // Python takes that as inspect.signature()
    function->method = {function->signature.function.c_str(),
                        reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(call)), METH_FASTCALL | METH_KEYWORDS,
                        function->doc.c_str()};
    PyObject *const object =
        PyCFunction_NewEx(&function->method, py::capsule(function).ptr(), m.attr("__name__").ptr());
    m.add_object(name, py::reinterpret_steal<py::object>(object));
}

} // namespace fourways
