// Checked GPU arrays for bindings, zero copy.
//
//     Call call("doublify", stream);
//     const auto in = call.array<const float>("x", x);   // const: an input; no const: an output, must be writable
//     const auto out = call.array<float>("y", y);
//     call.same_shape(in, out);
//     call.no_overlap(in, out);
//     call.launch([&](cudaStream_t on) { return launch_doublify(in.data, out.data, in.size, on); });
//
// array() and the checks after it need no driver. launch() does, and starts nothing unless every argument is right.
#pragma once

#include "array_protocols.hpp"
#include "cuda_error.hpp"

#include <type_traits>
#include <vector>

namespace fourways {

// NumPy's name and type string of an element type.
template <class T> struct Element;
template <> struct Element<float> { static constexpr const char *name = "float32", *typestr = "<f4"; };
template <> struct Element<double> { static constexpr const char *name = "float64", *typestr = "<f8"; };
template <> struct Element<int> { static constexpr const char *name = "int32", *typestr = "<i4"; };
template <> struct Element<long long> { static constexpr const char *name = "int64", *typestr = "<i8"; };

template <class T> struct DeviceArray {
    Argument argument;
    T *data;
    long long size;  // elements
    py::tuple shape; // shape.size() dimensions
    long long extent(size_t dimension) const { return integer(shape[dimension]); }
};

class Call {
  public:
    // kernel: starts every message. stream: what the caller passed; None: current_stream().
    Call(const char *kernel, py::handle stream) : kernel_(kernel)
    {
        arrays_.reserve(4); // one allocation
        if (!stream.is_none())
            stream_ = named_stream(stream, {kernel, "stream"});
    }

    // A C-contiguous array of T. TypeError: another kind of object, dtype or memory. ValueError: the rest.
    template <class T> DeviceArray<T> array(const char *name, py::handle object)
    {
        using Wanted = Element<std::remove_const_t<T>>;
        static const py::handle dtype = py::module_::import("numpy").attr("dtype")(Wanted::name).release();
        const Argument argument{kernel_, name};
        Described found = describe(argument, object, [&] { return current_device(), stream(); });
        if (!found.dtype.is(dtype) && !found.dtype.equal(py::str(Wanted::typestr)))
            throw argument.type_error("has dtype " + dtype_name(found.dtype) + "; wanted " + Wanted::name);
        const long long size = checked_size(argument, found, sizeof(T));
        if (!std::is_const_v<T> && found.read_only)
            throw argument.value_error("is read-only; wanted a writable array, because the kernel writes it");
        DeviceArray<T> array{argument, reinterpret_cast<T *>(found.address), size, found.shape};
        if (size > 0)
            arrays_.push_back({argument, std::move(found)});
        return array;
    }

    template <class A, class B> void same_shape(const DeviceArray<A> &a, const DeviceArray<B> &b) const
    {
        if (!a.shape.equal(b.shape))
            throw b.argument.value_error("has shape " + text(b.shape) + "; wanted " + text(a.shape) +
                                         ", the shape of " + a.argument.name);
    }

    // For kernels whose pointers are __restrict__: not even the same array twice.
    template <class A, class B> void no_overlap(const DeviceArray<A> &a, const DeviceArray<B> &b) const
    {
        const void *const a_end = a.data + a.size, *const b_end = b.data + b.size;
        if (a.size > 0 && b.size > 0 && a.data < b_end && b.data < a_end)
            throw b.argument.value_error(std::string("shares memory with ") + a.argument.name +
                                         "; wanted separate arrays, because the kernel's pointers are __restrict__");
    }

    // start(cudaStream_t) -> cudaError_t queues the kernel. It runs without the GIL, after all checks.
    template <class Start> void launch(Start &&start)
    {
        const int current = current_device();
        for (const auto &[argument, array] : arrays_)
            check_device(argument, array, current);
        const cudaStream_t on = stream();
        check(without_gil([&] {
                  for (const auto &[argument, array] : arrays_)
                      if (array.producer && canonical(*array.producer) != canonical(on))
                          if (const cudaError_t error = wait(on, *array.producer))
                              return error;
                  return start(on);
              }),
              kernel_);
    }

  private:
    const char *kernel_;
    std::optional<cudaStream_t> stream_;
    std::vector<std::pair<Argument, Described>> arrays_; // those with elements

    cudaStream_t stream()
    {
        if (!stream_)
            stream_ = current_stream();
        return *stream_;
    }

    // Everything in CUDA that may block: loading the driver, creating the context, a full launch queue.
    template <class Work> static cudaError_t without_gil(Work &&work)
    {
        py::gil_scoped_release released;
        return work();
    }

    // The first question to CUDA: a machine without a driver is found out here.
    int current_device() const
    {
        int device = 0;
        check(without_gil([&] { return cudaGetDevice(&device); }), kernel_);
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

    void check_device(const Argument &argument, const Described &array, int current) const
    {
        int device = array.device;
        if (device == Described::unknown) {
            cudaPointerAttributes memory{};
            const auto *const address = reinterpret_cast<const void *>(array.address);
            check(without_gil([&] { return cudaPointerGetAttributes(&memory, address); }), kernel_);
            if (memory.type == cudaMemoryTypeHost || memory.type == cudaMemoryTypeUnregistered)
                throw argument.type_error("is in host memory; wanted an array of a GPU, as cupy.asarray makes it");
            device = memory.type == cudaMemoryTypeManaged ? Described::any : memory.device;
        }
        if (device != Described::any && device != current)
            throw argument.value_error("is on GPU " + std::to_string(device) + "; wanted GPU " +
                                       std::to_string(current) + ", the current one");
    }

    // The number of elements of an array without gaps.
    static long long checked_size(const Argument &argument, const Described &array, size_t item)
    {
        const auto strides = array.strides.is_none() ? py::tuple() : py::tuple(array.strides);
        long long size = 1;
        bool contiguous = true;
        for (size_t i = array.shape.size(); i-- > 0;) {
            const long long extent = integer(array.shape[i]);
            if (!array.strides.is_none() && extent != 1)
                contiguous &= integer(strides[i]) == size * static_cast<long long>(item);
            if (extent < 0 || __builtin_mul_overflow(size, extent, &size))
                throw argument.value_error("has shape " + text(array.shape) + "; wanted extents from 0 up");
        }
        if (size > 0 && !contiguous)
            throw argument.value_error("has shape " + text(array.shape) + " and strides " + text(array.strides) +
                                       "; wanted C order without gaps, as cupy.ascontiguousarray makes it");
        if (size > 0 && (array.address == 0 || array.address % item != 0))
            throw argument.value_error("starts at address " + std::to_string(array.address) +
                                       "; wanted a multiple of " + std::to_string(item) + ", and not 0");
        return size;
    }

    // float64 rather than <f8.
    static std::string dtype_name(const py::object &dtype)
    {
        try {
            return text(py::module_::import("numpy").attr("dtype")(dtype));
        } catch (py::error_already_set &) { // not a type of NumPy's
            return text(dtype);
        }
    }
};

} // namespace fourways
