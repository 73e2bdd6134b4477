// The element types of arrays: what NumPy calls them, and how long they are.
#pragma once

#include <cuda_runtime_api.h>
#include <type_traits>

namespace fourways {

struct Element {
    const char *name, *typestr; // as "float32" and "<f4"; empty: any type of this size
    size_t size;                // bytes
};

template <class T> constexpr Element number()
{
    static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8,
                  "ElementOf<T> must say what NumPy calls T: cpp/aot/element.hpp shows how");
    constexpr int i = sizeof(T) == 8 ? 3 : sizeof(T) / 2;
    constexpr Element integers[][4] = {
        {{"uint8", "|u1", 1}, {"uint16", "<u2", 2}, {"uint32", "<u4", 4}, {"uint64", "<u8", 8}},
        {{"int8", "|i1", 1}, {"int16", "<i2", 2}, {"int32", "<i4", 4}, {"int64", "<i8", 8}}};
    if constexpr (std::is_same_v<T, bool>)
        return {"bool", "|b1", 1};
    else if constexpr (std::is_floating_point_v<T>)
        return i == 2 ? Element{"float32", "<f4", 4} : Element{"float64", "<f8", 8};
    else
        return integers[std::is_signed_v<T>][i];
}

// bool, every whole and floating number up to 64 bits, and CUDA's two vector types that are complex numbers.
// For another type, say it in your own file:
//
//     template <> struct fourways::ElementOf<__half> { static constexpr Element value{"float16", "<f2", 2}; };
//     template <> struct fourways::ElementOf<Particle> { static constexpr Element value{"", "", sizeof(Particle)}; };
template <class T> struct ElementOf { static constexpr Element value = number<T>(); };
template <> struct ElementOf<float2> { static constexpr Element value{"complex64", "<c8", 8}; };
template <> struct ElementOf<double2> { static constexpr Element value{"complex128", "<c16", 16}; };

} // namespace fourways
