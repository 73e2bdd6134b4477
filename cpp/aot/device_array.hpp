// Checked GPU arrays for bindings, zero copy.
//
//     Call call("doublify", stream);
//     const auto in = call.array<const float>("x", x);   // const: an input; no const: an output, must be writable
//     const auto out = call.array<float>("y", y);
//     call.same_shape(in, out);
//     call.no_overlap(in, out);
//     call.launch([&](cudaStream_t on) { return launch_doublify(in.data, out.data, in.size, on); });
//
// array() and the checks need no driver; launch() does, and starts nothing unless every argument is right.
// Protocols: https://nvidia.github.io/numba-cuda/user/cuda_array_interface.html (version 3) and dlpack.hpp.
#pragma once

#include "cuda_error.hpp"
#include "dlpack.hpp"
#include "python_stream.hpp"

#include <pybind11/pybind11.h>
#include <string>
#include <type_traits>
#include <vector>

namespace fourways {

// NumPy's name and type string of an element type.
template <class T> struct Element;
#define FOURWAYS_ELEMENT(type, numpy_name, numpy_typestr)                                                              \
    template <> struct Element<type> {                                                                                 \
        static constexpr const char *name = numpy_name, *typestr = numpy_typestr;                                      \
    };
FOURWAYS_ELEMENT(float, "float32", "<f4")
FOURWAYS_ELEMENT(double, "float64", "<f8")
FOURWAYS_ELEMENT(int, "int32", "<i4")
FOURWAYS_ELEMENT(long long, "int64", "<i8")
#undef FOURWAYS_ELEMENT

template <class T> struct DeviceArray {
    const char *name;
    T *data;
    long long size;  // elements
    py::tuple shape; // of any length; extent(0) is the slowest dimension
    long long extent(size_t dimension) const { return shape[dimension].template cast<long long>(); }
};

// An array as its library describes it, before any check.
struct Described {
    size_t address = 0;
    py::tuple shape;
    py::object strides;   // a tuple in bytes, or none: C-contiguous
    py::object dtype;     // a NumPy dtype or a type string
    bool read_only = false;
    int device = unknown; // ask the driver
    py::object keep;      // what must live until the launch
    static constexpr int unknown = -1, any = -2;
};

class Call {
  public:
    // kernel: the name that starts every message. stream: what the caller passed; None: CuPy's current stream.
    Call(const char *kernel, py::handle stream) : kernel_(kernel), named_(!stream.is_none())
    {
        if (named_)
            stream_ = named_stream(stream, kernel);
    }

    // A C-contiguous array of T. Raises TypeError for another kind of object, dtype or memory, ValueError for the rest.
    template <class T> DeviceArray<T> array(const char *name, py::handle object)
    {
        using Plain = std::remove_const_t<T>;
        Described found = describe(name, object);
        static PyObject *const wanted =
            py::module_::import("numpy").attr("dtype")(Element<Plain>::name).release().ptr();
        if (found.dtype.ptr() != wanted && typestr(found.dtype) != Element<Plain>::typestr)
            throw py::type_error(about(name) + "has dtype " + dtype_name(found.dtype) + "; wanted " +
                                 Element<Plain>::name + ", as in " + name + ".astype('" + Element<Plain>::name + "')");
        const long long size = checked_size(name, found, sizeof(T));
        if (!std::is_const_v<T> && found.read_only)
            throw py::value_error(about(name) + "is read-only; wanted a writable array, because the kernel writes it");
        if (size > 0)
            places_.push_back({name, found.address, found.device, std::move(found.keep)});
        return {name, reinterpret_cast<T *>(found.address), size, std::move(found.shape)};
    }

    template <class A, class B> void same_shape(const DeviceArray<A> &a, const DeviceArray<B> &b) const
    {
        if (!a.shape.equal(b.shape))
            throw py::value_error(about(b.name) + "has shape " + text(b.shape) + "; wanted " + text(a.shape) +
                                  ", the shape of " + a.name);
    }

    // For kernels whose parameters are __restrict__: not even the same array twice.
    template <class A, class B> void no_overlap(const DeviceArray<A> &a, const DeviceArray<B> &b) const
    {
        const void *const a_end = a.data + a.size, *const b_end = b.data + b.size;
        if (a.size > 0 && b.size > 0 && a.data < b_end && b.data < a_end)
            throw py::value_error(about(b.name) + "shares memory with " + a.name +
                                  "; wanted two separate arrays, because the kernel's pointers are __restrict__");
    }

    // start(cudaStream_t) -> cudaError_t queues the kernel. It runs without the GIL, after all checks.
    template <class Start> void launch(Start &&start)
    {
        const int current = current_device();
        for (const Place &place : places_)
            check_place(place, current);
        const cudaStream_t on = stream();
        cudaError_t error = cudaSuccess;
        {
            py::gil_scoped_release released;
            for (const cudaStream_t producer : producers_)
                if (error == cudaSuccess && canonical(producer) != canonical(on))
                    error = wait(on, producer);
            if (error == cudaSuccess)
                error = start(on);
        }
        check(error, kernel_);
    }

  private:
    struct Place {
        const char *name;
        size_t address;
        int device;
        py::object keep;
    };

    const char *kernel_;
    bool named_;
    cudaStream_t stream_ = nullptr;
    std::vector<Place> places_;
    std::vector<cudaStream_t> producers_;

    std::string about(const char *name) const { return std::string(kernel_) + ": " + name + " "; }
    static std::string text(py::handle object) { return py::str(object).cast<std::string>(); }

    static std::string typestr(py::handle dtype)
    {
        return PyUnicode_Check(dtype.ptr()) ? text(dtype) : text(dtype.attr("str"));
    }

    static std::string dtype_name(py::handle dtype)
    {
        const auto written = py::reinterpret_steal<py::object>(PyObject_CallOneArg(
            py::module_::import("numpy").attr("dtype").ptr(), dtype.ptr()));
        PyErr_Clear(); // NumPy has no such type: say it as the array said it
        return text(written ? written : py::reinterpret_borrow<py::object>(dtype));
    }

    cudaStream_t stream()
    {
        if (!named_) {
            stream_ = current_stream();
            named_ = true;
        }
        return stream_;
    }

    // Also the place where a machine without a driver is found out.
    int current_device() const
    {
        int device = 0;
        cudaError_t error;
        {
            py::gil_scoped_release released; // the first call loads the driver
            error = cudaGetDevice(&device);
        }
        check(error, kernel_);
        return device;
    }

    static cudaError_t wait(cudaStream_t on, cudaStream_t producer)
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

    void check_place(const Place &place, int current) const
    {
        int device = place.device;
        if (device == Described::unknown) {
            cudaPointerAttributes attributes{};
            cudaError_t error;
            {
                py::gil_scoped_release released; // may create the context
                error = cudaPointerGetAttributes(&attributes, reinterpret_cast<const void *>(place.address));
            }
            check(error, kernel_);
            if (attributes.type == cudaMemoryTypeHost || attributes.type == cudaMemoryTypeUnregistered)
                throw py::type_error(about(place.name) + "is in host memory; wanted memory of a GPU");
            device = attributes.type == cudaMemoryTypeManaged ? Described::any : attributes.device;
        }
        if (device != Described::any && device != current)
            throw py::value_error(about(place.name) + "is on GPU " + std::to_string(device) + "; wanted GPU " +
                                  std::to_string(current) + ", the current one (cupy.cuda.Device(n).use() changes it)");
    }

    long long checked_size(const char *name, const Described &found, size_t item) const
    {
        long long size = 1;
        bool contiguous = true;
        for (size_t i = found.shape.size(); i-- > 0;) {
            const auto extent = found.shape[i].cast<long long>();
            if (!found.strides.is_none() && extent != 1)
                contiguous &= py::tuple(found.strides)[i].cast<long long>() == size * static_cast<long long>(item);
            size *= extent;
        }
        if (size > 0 && !contiguous)
            throw py::value_error(about(name) + "has strides " + text(found.strides) + " for shape " +
                                  text(found.shape) + "; wanted C order without gaps, as cupy.ascontiguousarray makes it");
        if (size > 0 && (found.address == 0 || found.address % item != 0))
            throw py::value_error(about(name) + "starts at address " + std::to_string(found.address) +
                                  "; wanted a multiple of " + std::to_string(item) + " and not 0");
        return size;
    }

    Described describe(const char *name, py::handle object)
    {
        const CuPy *const library = cupy();
        if (library && reinterpret_cast<PyObject *>(Py_TYPE(object.ptr())) == library->ndarray)
            return from_cupy(object);
        if (const auto interface = attribute(object, "__cuda_array_interface__"))
            return from_interface(name, interface);
        if (const auto device = attribute(object, "__dlpack_device__"))
            return from_dlpack(name, object, device());
        throw py::type_error(about(name) + "is a " + type_name(object) +
                             "; wanted a GPU array: __cuda_array_interface__ or DLPack");
    }

    // CuPy's __cuda_array_interface__ takes longer than a launch, the attributes behind it do not.
    static Described from_cupy(py::handle object)
    {
        const auto memory = FOURWAYS_ATTRIBUTE(object, "data");
        Described found;
        found.address = PyLong_AsSize_t(FOURWAYS_ATTRIBUTE(memory, "ptr").ptr());
        found.device = static_cast<int>(PyLong_AsLong(FOURWAYS_ATTRIBUTE(memory, "device_id").ptr()));
        found.shape = FOURWAYS_ATTRIBUTE(object, "shape");
        found.strides = FOURWAYS_ATTRIBUTE(object, "strides");
        found.dtype = FOURWAYS_ATTRIBUTE(object, "dtype");
        return found;
    }

    Described from_interface(const char *name, py::handle interface)
    {
        try {
            const py::dict entries = py::reinterpret_borrow<py::dict>(interface);
            const auto entry = [&](const char *key) {
                return entries.contains(key) ? py::object(entries[key]) : py::object(py::none());
            };
            if (!entry("mask").is_none())
                throw py::value_error(about(name) + "has a mask; wanted a plain array");
            const py::tuple data = entries["data"];
            Described found;
            found.address = data[0].is_none() ? 0 : data[0].cast<size_t>();
            found.read_only = data[1].cast<bool>();
            found.shape = entries["shape"];
            found.strides = entry("strides");
            found.dtype = entries["typestr"];
            if (const auto producer = entry("stream"); !producer.is_none())
                producers_.push_back(named_stream(producer, kernel_));
            return found;
        } catch (py::error_already_set &error) {
            broken(name, error.what());
        } catch (py::cast_error &error) {
            broken(name, error.what());
        }
    }

    [[noreturn]] void broken(const char *name, const char *why) const
    {
        throw py::type_error(about(name) + "has a broken __cuda_array_interface__ (" + why + ")");
    }

    Described from_dlpack(const char *name, py::handle object, py::tuple device)
    {
        const int type = device[0].cast<int>();
        if (type != dlpack::cuda && type != dlpack::cuda_managed)
            throw py::type_error(about(name) + "is a " + type_name(object) +
                                 (type == dlpack::cpu || type == dlpack::cuda_host ? " in host memory"
                                                                                   : " on another kind of device") +
                                 "; wanted a GPU array, as cupy.asarray makes it");
        current_device(); // DLPack asks for the stream, and there is none without a driver
        using namespace py::literals;
        const auto on = py::int_(reinterpret_cast<size_t>(canonical(stream())));
        Described found;
        const auto export_to = object.attr("__dlpack__");
        try {
            found.keep = export_to("stream"_a = on, "max_version"_a = py::make_tuple(1, 0));
        } catch (py::error_already_set &error) {
            if (!error.matches(PyExc_TypeError)) // a producer older than DLPack 1.0 takes no max_version
                throw;
            found.keep = export_to("stream"_a = on);
        }
        // The capsule stays the owner: it calls the deleter when `keep` goes.
        const dlpack::Tensor *tensor;
        if (PyCapsule_IsValid(found.keep.ptr(), "dltensor_versioned")) {
            const auto *const managed = static_cast<dlpack::ManagedVersioned *>(
                PyCapsule_GetPointer(found.keep.ptr(), "dltensor_versioned"));
            found.read_only = managed->flags & 1;
            tensor = &managed->tensor;
        } else {
            const auto *const managed =
                static_cast<dlpack::Managed *>(PyCapsule_GetPointer(found.keep.ptr(), "dltensor"));
            if (!managed)
                throw py::error_already_set();
            tensor = &managed->tensor;
        }
        fill(found, *tensor);
        return found;
    }

    static void fill(Described &found, const dlpack::Tensor &tensor)
    {
        static constexpr char kinds[] = {'i', 'u', 'f', '?', 'V', 'c', 'b'}; // by DataType::code
        const auto [code, bits, lanes] = tensor.dtype;
        const char kind = code < sizeof(kinds) && lanes == 1 ? kinds[code] : '?';
        found.dtype = py::str(std::string("<") + kind + std::to_string(bits / 8));
        found.address = reinterpret_cast<size_t>(tensor.data) + tensor.byte_offset;
        found.device = tensor.device.type == dlpack::cuda ? tensor.device.id : Described::any;
        py::tuple shape(tensor.ndim), strides(tensor.ndim);
        for (int i = 0; i < tensor.ndim; ++i) {
            shape[i] = tensor.shape[i];
            strides[i] = tensor.strides ? tensor.strides[i] * (bits / 8) : 0;
        }
        found.shape = std::move(shape);
        found.strides = tensor.strides ? py::object(std::move(strides)) : py::none();
    }
};

} // namespace fourways
