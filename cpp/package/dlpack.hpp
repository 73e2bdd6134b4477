// The part of the DLPack ABI that a consumer reads (https://dmlc.github.io/dlpack/latest/c_api.html).
#pragma once

#include <cstdint>

namespace fourways::dlpack {

constexpr uint32_t major = 1; // of the ABI below; minor versions only add to it

enum DeviceType : int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };
enum Flags : uint64_t { read_only = 1 };

struct Device {
    int32_t type, id;
};

struct DataType {
    uint8_t code, bits; // code: 0 int, 1 unsigned, 2 float, 4 bfloat, 5 complex, 6 bool
    uint16_t lanes;
};

struct Tensor {
    void *data;
    Device device;
    int32_t ndim;
    DataType dtype;
    int64_t *shape, *strides; // strides in elements; null: C-contiguous
    uint64_t byte_offset;
};

struct Managed { // in a capsule called "dltensor"
    Tensor tensor;
    void *manager_ctx;
    void (*deleter)(Managed *);
};

struct ManagedVersioned { // in a capsule called "dltensor_versioned"
    uint32_t major, minor;
    void *manager_ctx;
    void (*deleter)(ManagedVersioned *);
    uint64_t flags;
    Tensor tensor;
};

struct GiveBack { // for std::unique_ptr
    void operator()(ManagedVersioned *managed) const
    {
        if (managed->deleter)
            managed->deleter(managed);
    }
};

// C functions for all objects of a type, in a capsule called "dlpack_exchange_api": DLPack 1.3 and newer.
// They return 0, or set a Python exception. None of them waits for a stream.
struct Exchange {
    uint32_t major, minor;
    const Exchange *previous; // of an older version, or null
    void *allocate;
    int (*managed)(void *object, ManagedVersioned **found); // with flags; the caller calls its deleter
    void *to_object;
    int (*tensor)(void *object, Tensor *found); // good while the object lives; may be null
    int (*current_stream)(int32_t device_type, int32_t device_id, void **found);
};

} // namespace fourways::dlpack
